// Assistants of many accounts call tools at the same time. No answer may hold a word or an id of a site that the key cannot read.
import { messageHeaders, messageIn, toolCall } from '../../support/mcp-message.ts'
import type { Random } from '../../support/random.ts'
import { markPattern, type WatermarkedSite } from './watermarked-sites.ts'

export interface AssistantCounts {
  calls: number
  answered: number
  refused: number
  /** Calls that failed, which happens only on a machine too busy for our timeouts. */
  late: number
  /** Answers with words or ids of a site that the key cannot read. */
  foreign: number
  /** Calls about an own site that were refused, or about a foreign site that were answered. */
  wrong: number
  examples: string[]
}

const atOnce = 16
const lists = [
  'page',
  'hostname',
  'referrer',
  'entry_page',
  'channel',
  'device',
  'country',
  'event',
  'utm_source',
  'prop:plan',
]

export async function askAssistants(
  urls: readonly string[],
  sites: readonly WatermarkedSite[],
  calls: number,
  random: Random,
): Promise<AssistantCounts> {
  const counts: AssistantCounts = { calls: 0, answered: 0, refused: 0, late: 0, foreign: 0, wrong: 0, examples: [] }
  function breach(kind: 'foreign' | 'wrong', words: string): void {
    counts[kind]++
    if (counts.examples.length < 5) counts.examples.push(`assistant, ${kind}: ${words.slice(0, 600)}`)
  }

  async function ask(): Promise<void> {
    const site = random.pick(sites)
    const withSiteKey = random.oneIn(2)
    const [keys, readable] = withSiteKey
      ? [site.siteKeys, [site]]
      : [site.accountKeys, sites.filter(({ accountId }) => accountId === site.accountId)]
    const about = random.oneIn(2) ? random.pick(readable) : random.pick(sites)
    const isOwn = readable.includes(about)
    const { tool, input, namesSite } = callOf(random, random.pick([about.id, `${about.mark}.example`]))
    const body = JSON.stringify(toolCall(tool, input))
    const headers = messageHeaders(random.pick(keys))
    const response = await fetch(`${random.pick(urls)}/mcp`, { method: 'POST', headers, body })
    const text = await response.text()
    counts.calls++
    const marks = readable.map(({ mark }) => mark)
    const ids = readable.map(({ id }) => id)
    const shown = `${text} ${JSON.stringify([...response.headers])}`
    const foreignWords = [
      ...(shown.match(markPattern) ?? []).filter((mark) => !marks.includes(mark)),
      ...(shown.match(/site_[a-z2-7]{16}/g) ?? []).filter((id) => !ids.includes(id)),
    ]
    if (foreignWords.length > 0) return breach('foreign', `${foreignWords[0]} in the answer to ${body}: ${text}`)
    const { result } = response.status === 200 ? messageIn(text) : {}
    if (response.status === 500 || result?.content[0]?.text.includes('cannot be read at the moment')) {
      counts.late++
      return
    }
    if (!result) return breach('wrong', `${body}: ${response.status} ${text}`)
    if (result.isError) counts.refused++
    else counts.answered++
    if (namesSite && Boolean(result.isError) === isOwn) breach('wrong', `${body}: ${text}`)
  }

  async function lane(): Promise<void> {
    while (counts.calls < calls) await ask()
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return counts
}

function callOf(random: Random, site: string): { tool: string; input: object; namesSite: boolean } {
  const query = { site, range: random.pick(['7d', '30d', '90d', 'last_month', '12m']) }
  switch (random.below(5)) {
    case 0:
      return { tool: 'sites', input: random.oneIn(2) ? {} : { contains: 'wm' }, namesSite: false }
    case 1:
      return { tool: 'overview', input: query, namesSite: true }
    case 2:
      return { tool: 'timeseries', input: { ...query, interval: 'month' }, namesSite: true }
    case 3:
      return { tool: 'compare', input: { current: query, baseline: { ...query, range: '24h' } }, namesSite: true }
    default:
      return { tool: 'breakdown', input: { ...query, by: random.pick(lists), limit: 100 }, namesSite: true }
  }
}
