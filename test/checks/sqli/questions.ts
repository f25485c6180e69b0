// Hostile strings in questions of /api/v2: as filters that must find exactly the hit recorded with them, in every operator, as rows that
// must be listed unchanged, and where no string is valid.
import { randomUUID } from 'node:crypto'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from '../../support/events.ts'
import type { Random } from '../../support/random.ts'
import type { Stores } from '../../support/stores.ts'
import type { Check } from '../runner.ts'
import { quoted } from './clickhouse.ts'
import { asker, distinct, refused, type Site, together } from './http.ts'
import { hostileString } from './strings.ts'

const planted = '2024-05-01'
const maxQueryLength = 6_144

/** A hit with the string in each of these. */
const fields: Readonly<Record<string, (hit: Hit, value: string) => Hit>> = {
  page: (hit, pathname) => pageview({ ...hit, pathname }),
  entry_page: (hit, pathname) => pageview({ ...hit, pathname }),
  event: (hit, name) => custom(name, hit),
  'prop:plan': (hit, plan) => custom('Buy', { ...hit, props: { plan } }),
  referrer: (hit, referrer) => pageview({ ...hit, referrer }),
  utm_source: (hit, utmSource) => pageview({ ...hit, utmSource }),
}
const names = Object.keys(fields)
const ways = ['is', 'is', 'contains', 'starts_with', 'is_not', 'by'] as const

export async function questionEach(
  check: Check,
  stores: Stores,
  site: Site,
  url: string,
  random: Random,
  count: number,
) {
  const cases = distinct(random, count, (value) => value).map((value, at) => ({
    value,
    field: names[at % names.length] as string,
    hostname: `h${at}.of.questions`,
  }))
  const events = cases.map(({ value, field, hostname }) => {
    const hit: Hit = { at: `${planted}T12:00:00Z`, visitor: hostname, hostname }
    return eventOf((fields[field] as (typeof fields)[string])(hit, value), site.siteId, 'UTC')
  })
  await recordBatch(stores.clickhouse, { id: randomUUID(), events })
  const get = asker(url, site)
  const counts = { found: 0, refused: 0 }
  const queue = cases.values()
  await together(async () => {
    for (const { value, field, hostname } of queue) {
      const way = random.pick(ways)
      const filter = `${field}:${way}:${value.replace(/[\\,]/g, '\\$&')}`
      const sent = [
        ['by', way === 'by' ? field : 'hostname'],
        // Others may contain it, too.
        ...(way === 'is' ? [] : [['filter', `hostname:is:${hostname}`]]),
        ...(way === 'by' ? [] : [['filter', filter]]),
        ...Object.entries({ metrics: 'visitors', range: 'custom', start: planted, end: planted }),
      ]
      const query = sent.map(([name, text]) => `${name}=${encodeURIComponent(text as string)}`).join('&')
      const row = way === 'by' ? { [field]: value, visitors: 1 } : { hostname, visitors: 1 }
      const expected = expectedOf(way, value, query, row)
      const answer = await get(`v2/stats/breakdown?${query}`)
      if (answer.startsWith('200')) counts.found++
      else counts.refused++
      if (answer !== expected)
        check.fault(`question ${field} ${way}`, quoted(value), `expected ${expected}`, `got ${answer.slice(0, 300)}`)
    }
  })
  return counts
}

function expectedOf(way: (typeof ways)[number], value: string, query: string, row: object): string {
  if (query.length + 1 > maxQueryLength) return refused
  if (way !== 'by' && /\p{Cc}/u.test(value)) return '400 "invalid_filter"'
  return `200 ${JSON.stringify(way === 'is_not' ? [] : [row])}`
}

/** Parameters of a question for which no hostile string is valid. */
const refusedInQuestions: readonly string[] = [
  ...[
    'totals?metrics=',
    'totals?goal=',
    'totals?compare=',
    'totals?filter=',
    'totals?filter=page:',
    'totals?filter=prop:',
  ],
  ...[
    'totals?filter=goal:is:',
    'timeseries?interval=',
    'breakdown?by=',
    'breakdown?by=prop:',
    'breakdown?by=page&order=',
  ],
  ...['breakdown?by=page&cursor=', 'breakdown?by=page&limit='],
]

/** Each begins with a quote, so it is no name of anything. */
export async function refuseInQuestions(check: Check, site: Site, url: string, random: Random, count: number) {
  const get = asker(url, site)
  let right = 0
  const queue = Array.from({ length: count }, (_, at) => refusedInQuestions[at % refusedInQuestions.length]).values()
  await together(async () => {
    for (const path of queue) {
      const value = `'${hostileString(random).slice(0, 400)}`.toWellFormed()
      const expected = path?.includes('filter=') ? '400 "invalid_filter"' : refused
      const answer = await get(`v2/stats/${path}${encodeURIComponent(value)}`)
      if (answer === expected) right++
      else check.fault(`${path} was not refused`, quoted(value), `got ${answer.slice(0, 300)}`)
    }
  })
  return right
}
