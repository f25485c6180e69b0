// Hostile strings through HTTP: as filters that must find exactly the row recorded with them, as rows that must be listed unchanged, and
// as values of parameters for which no string is valid.
import { randomUUID } from 'node:crypto'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { eventOf, pageview } from '../../support/events.ts'
import type { Random } from '../../support/random.ts'
import type { Stores } from '../../support/stores.ts'
import type { Check } from '../runner.ts'
import { quoted } from './clickhouse.ts'
import { hostileString } from './strings.ts'

export interface Site {
  siteId: string
  /** Enough keys for all requests of a run. */
  keys: readonly string[]
}

type Field = 'hostname' | 'utm_source'

const maxSource = 255
const planted = '2024-03-01'
const window = `range=custom&start=${planted}&end=${planted}`

/** Records a row for each string and queries each; returns the number of queries. */
export async function filterEach(check: Check, stores: Stores, site: Site, url: string, random: Random, count: number) {
  const values = {
    hostname: distinct(random, count, lowerCase),
    // The first two differ only in case.
    utm_source: [...new Set(['Newsletter', 'newsletter', ...distinct(random, count, (value) => value)])],
  }
  const events = (['hostname', 'utm_source'] as const).flatMap((field) =>
    values[field].map((value, at) => {
      const hit = pageview({ at: `${planted}T12:00:00Z`, visitor: `${field} ${at}`, pathname: `/${field}/${at}` })
      return eventOf(
        { ...hit, ...(field === 'hostname' ? { hostname: value } : { hostname: 'of.sources', utmSource: value }) },
        site.siteId,
        'UTC',
      )
    }),
  )
  await recordBatch(stores.clickhouse, { id: randomUUID(), events })

  const get = asker(url, site)
  const counts = { filtered: 0, refused: 0, listed: 0 }
  for (const field of ['hostname', 'utm_source'] as const) {
    const queue = values[field].entries()
    await together(async () => {
      for (const [at, value] of queue) {
        const answer = await get(`v1/stats/pages?${window}&limit=100&${field}=${encodeURIComponent(value)}`)
        const rowOf = (place: number) =>
          `200 ${JSON.stringify([{ pathname: `/${field}/${place}`, title: '', views: 1, visitors: 1 }])}`
        // "ſ" is "s" as a host name, and may be planted, too.
        const ascii = field === 'hostname' ? values.hostname.indexOf(asciiOf(value)) : -1
        const expected = [...expectedOf(field, value, rowOf(at)), ...(ascii === -1 ? [] : [rowOf(ascii)])]
        if (answer.startsWith('200')) counts.filtered++
        else counts.refused++
        if (!expected.includes(answer)) {
          check.fault(
            `${field} filter`,
            quoted(value),
            `expected ${expected.join(' or ')}`,
            `got ${answer.slice(0, 300)}`,
          )
        }
      }
    })
  }
  counts.listed = await listEach(check, stores, site, url, values.utm_source.slice(0, 90))
  return counts
}

export const refused = '400 "invalid_parameter"'

/**
 * A source may be any printable text. A host name may not: most hostile strings are refused. A string that could begin an international
 * name is refused, or finds its own row or none, but never another one.
 */
function expectedOf(field: Field, value: string, own: string): string[] {
  if (field === 'hostname') return /[^\P{ASCII}\w.-]/u.test(value) ? [refused] : [refused, own, '200 []']
  return value.length <= maxSource && !/\p{Cc}/u.test(value) ? [own] : [refused]
}

/** The name that a browser asks for. */
const asciiOf = (host: string): string => URL.parse(`https://${host}/`)?.hostname ?? host

/** Recorded values are listed unchanged. */
async function listEach(check: Check, stores: Stores, { siteId, keys }: Site, url: string, values: readonly string[]) {
  const day = '2024-04-01'
  const events = values.map((utmSource, at) =>
    eventOf(pageview({ at: `${day}T12:00:00Z`, visitor: `${at}`, utmSource }), siteId, 'UTC'),
  )
  await recordBatch(stores.clickhouse, { id: randomUUID(), events })
  const answer = await asker(url, { siteId, keys })(`v1/stats/utm?range=custom&start=${day}&end=${day}&limit=100`)
  const listed = new Set((JSON.parse(answer.replace(/^200 /, '')) as { name: string }[]).map(({ name }) => name))
  for (const value of values) if (!listed.has(value)) check.fault('not listed as recorded', quoted(value))
  if (listed.size !== values.length) check.fault('other names listed', `${listed.size} for ${values.length}`)
  return listed.size
}

/** No hostile string is a valid range, number, country, device, date or site: all are refused, none breaks anything. */
export async function refuseElsewhere(
  check: Check,
  site: Site,
  url: string,
  random: Random,
  count: number,
): Promise<number> {
  const get = asker(url, site)
  const names = ['range', 'limit', 'country', 'device', 'start', 'end', 'site_id']
  let refused = 0
  const queue = Array.from(
    { length: count },
    (_, at) => [names[at % names.length] as string, `'${hostileString(random).slice(0, 400)}`] as const,
  ).values()
  await together(async () => {
    for (const [name, value] of queue) {
      const expected =
        name === 'site_id'
          ? '403 "forbidden"'
          : `400 ${name === 'start' || name === 'end' ? '"invalid_date"' : '"invalid_parameter"'}`
      const answer = await get(`v1/stats/geo?${name}=${encodeURIComponent(value.toWellFormed())}`)
      if (answer === expected) refused++
      else check.fault(`${name} was not refused`, quoted(value), `got ${answer.slice(0, 300)}`)
    }
  })
  return refused
}

/** "status data" for a 200 and "status code" for everything else. */
export function asker(url: string, { keys }: Site): (query: string) => Promise<string> {
  let asked = 0
  return async (query) => {
    const key = keys[asked++ % keys.length] as string
    const answer = await fetch(`${url}/api/${query}`, { headers: { Authorization: `Bearer ${key}` } })
    const body = (await answer.json()) as { data?: unknown; error?: { code: string } }
    return `${answer.status} ${JSON.stringify(answer.status === 200 ? body.data : body.error?.code)}`
  }
}

export const together = (lane: () => Promise<void>): Promise<unknown> => Promise.all(Array.from({ length: 6 }, lane))

const lowerCase = (value: string): string => value.toLowerCase()

/** Well-formed, not empty and distinct, because a row is recorded for each. */
export function distinct(random: Random, count: number, normal: (value: string) => string): string[] {
  const values = new Set<string>()
  while (values.size < count) {
    // Most have no control characters, because otherwise all would be refused.
    const value = normal(hostileString(random).toWellFormed())
    const plain = random.oneIn(8) ? value : value.replace(/\p{Cc}/gu, '')
    const fitting = plain.length > 255 && !random.oneIn(8) ? [...plain].slice(0, 100).join('') : plain
    if (fitting !== '' && normal(fitting) === fitting) values.add(fitting)
  }
  return [...values]
}
