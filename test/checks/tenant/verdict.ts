// Checks that a response belongs to the requested site: its words, numbers, id and ETag.
import type { Ask, KnownTags } from './asking.ts'
import type { Exclusions } from './exclusions.ts'
import { expectedData, expectedRow, isAboutSites, type ModelledReport, type Query } from './expected.ts'
import type { QuestionEndpoint } from './questions.ts'
import { markPattern, type TrafficDays, type WatermarkedSite } from './watermarked-sites.ts'

export interface Received {
  status: number
  headers: NodeJS.Dict<string | string[]>
  body: string
  /** By `performance.now()`. */
  sentAt: number
  receivedAt: number
  /** UTC milliseconds. */
  sentOn: number
}

export interface Breaches {
  /** Responses with words, ids or ETags of another site. */
  foreign: number
  /** Responses with numbers of another site. */
  wrong: number
  /** ETags that belong to two responses, or match where they must not. */
  tags: number
  /** Requests with an unexpected status, or without a response. */
  unexpected: number
}

export interface Answered {
  fresh: number
  notModified: number
  /** Answered with the last cached response from before ClickHouse went down. */
  last: number
  /** Answered with 500 while ClickHouse was down. */
  refused: number
  /** Answered with 500 at other times, which happens only on a machine too busy for our timeouts. */
  late: number
}

export interface Judge {
  breaches: Breaches
  examples: string[]
  answered: Answered
  tags: KnownTags
  judge(ask: Ask, received: Received, clickhouseIsDown: boolean): void
  /** For a request without a response. */
  failed(ask: Ask, error: Error): void
}

export function openJudge(days: TrafficDays, exclusions: Exclusions): Judge {
  const breaches: Breaches = { foreign: 0, wrong: 0, tags: 0, unexpected: 0 }
  const answered: Answered = { fresh: 0, notModified: 0, last: 0, refused: 0, late: 0 }
  const examples: string[] = []
  /** The response that each ETag belongs to. */
  const meanings = new Map<string, { sites: string; query: string; data: string }>()
  const lastTags = new Map<string, string>()
  const numbersOf = (sites: readonly WatermarkedSite[]) => sites.map(({ number }) => number).join(' and ')
  const askKey = (sites: readonly WatermarkedSite[], query: Query) => `${numbersOf(sites)} ${JSON.stringify(query)}`

  /** The list of sites depends on nothing but the limit. */
  const meant = ({ report, limit, ...rest }: Query): string =>
    JSON.stringify(report === 'sites' ? { report, limit } : { report, limit, ...rest })

  function breach(kind: keyof Breaches, ask: Ask, words: string): void {
    breaches[kind]++
    if (examples.length < 5) examples.push(`${kind}: site ${ask.site.number}, ${JSON.stringify(ask.query)}: ${words}`)
  }

  function judgeTag(ask: Ask, tag: string, data: string): void {
    const [query, sites] = [meant(ask.query), numbersOf(ask.sites)]
    const known = meanings.get(tag)
    if (known && known.sites !== sites) breach('foreign', ask, `${tag} is a tag of site ${known.sites}`)
    else if (known && withoutEnds(known.data) !== withoutEnds(data))
      breach('tags', ask, `${tag} stands for ${known.data} and for ${data}`)
    meanings.set(tag, { sites, query, data })
    lastTags.set(askKey(ask.sites, ask.query), tag)
  }

  function judgeMatch(ask: Ask, tag: string, body: string): string | undefined {
    const known = meanings.get(tag)
    if (body !== '') breach('tags', ask, '304 with a body')
    if (!known) return void breach('tags', ask, `304 with ${tag}, which was never sent`)
    if (known.sites !== numbersOf(ask.sites))
      return void breach('foreign', ask, `304 with a tag of site ${known.sites}`)
    if (!ask.ifNoneMatch?.header.includes(tag)) breach('tags', ask, `304 with ${tag}, which was not sent`)
    if (known.query !== meant(ask.query)) breach('tags', ask, `304 with a tag of ${known.query}`)
    return known.data
  }

  /** Each row has the exclusions of its site, which change one by one. */
  function judgeRows(ask: Ask, data: string, { sentAt, receivedAt }: Received): void {
    const rows = JSON.parse(data) as { period?: object }[]
    const shown = ask.sites.slice(0, ask.query.limit)
    if (rows.length !== shown.length) breach('wrong', ask, `${rows.length} rows: ${data}`)
    for (const [index, site] of shown.entries()) {
      const { period, ...row } = rows[index] ?? {}
      const allowed = exclusions.between(site, sentAt, receivedAt)
      const right = allowed.some((excluded) => expectedRow(site, ask.query, excluded, days) === JSON.stringify(row))
      if (!right) breach('wrong', ask, `${JSON.stringify(row)} with ${JSON.stringify(allowed)} excluded`)
    }
  }

  function judgeData(ask: Ask, data: string, received: Received): void {
    const { sentAt, receivedAt } = received
    if (isAboutSites(ask.query.report)) return void judgeRows(ask, data, received)
    const query = ask.query as Query & { report: ModelledReport | QuestionEndpoint }
    const shown = ask.query.report.endsWith('timeseries') ? withoutQuietDays(data) : data
    const allowed = exclusions.between(ask.site, sentAt, receivedAt)
    const right = allowed.some((excluded) => expectedData(ask.site, query, excluded, days) === shown)
    if (!right) breach('wrong', ask, `${shown} with ${JSON.stringify(allowed)} excluded`)
  }

  return {
    breaches,
    examples,
    answered,
    tags: { of: (sites, query) => lastTags.get(askKey(sites, query)) },
    judge(ask, received, clickhouseIsDown) {
      const { status, headers, body, sentOn } = received
      const { site, sites, query } = ask
      for (const found of `${withoutFilters(body)} ${cursorIn(body)}`.match(markPattern) ?? []) {
        if (!sites.some(({ mark }) => mark === found)) return breach('foreign', ask, `${found} in ${body}`)
      }
      for (const found of `${body} ${JSON.stringify(headers)}`.match(/site_[a-z2-7]{16}/g) ?? []) {
        if (!sites.some(({ id }) => id === found)) return breach('foreign', ask, `${found} in ${body}`)
      }
      if (status === 500) return void (clickhouseIsDown ? answered.refused++ : answered.late++)
      const tag = String(headers.etag)
      if (status === 304) {
        answered.notModified++
        const data = judgeMatch(ask, tag, body)
        if (data !== undefined) judgeData(ask, data, received)
        return
      }
      if (status !== 200) return breach('unexpected', ask, `${status} ${body}`)
      const { meta } = JSON.parse(body) as { meta: { site_id: string; generated_at: string } }
      if (!isAboutSites(query.report) && meta.site_id !== site.id)
        return breach('foreign', ask, `site_id ${meta.site_id}`)
      if (Date.parse(meta.generated_at) < sentOn) answered.last++
      else answered.fresh++
      const data = body.slice('{"data":'.length, body.lastIndexOf(',"meta":'))
      judgeTag(ask, tag, data)
      judgeData(ask, data, received)
    },
    failed: (ask, error) => breach('unexpected', ask, `no answer: ${error.message}`),
  }
}

/** `meta` repeats the filters, which may have words of another site. */
const withoutFilters = (body: string): string => body.replace(/"filters":\[(\{[^}]*\},?)*\]/, '')

/** The last row of a page is in the cursor of the next. */
const cursorIn = (body: string): string =>
  Buffer.from(/"next_cursor":"([^"]*)"/.exec(body)?.[1] ?? '', 'base64url').toString()

/** A period that ends now moves without a change of the numbers, and so without a new tag. */
const withoutEnds = (data: string): string => data.replaceAll(/,"end":"[^"]+"/g, '')

function withoutQuietDays(data: string): string {
  const days = JSON.parse(data) as { visitors: number; pageviews: number }[]
  return JSON.stringify(days.filter(({ visitors, pageviews }) => visitors > 0 || pageviews > 0))
}
