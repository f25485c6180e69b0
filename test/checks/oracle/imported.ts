// Imported days of a world, the files that they are imported from, and which of them answer what: docs/import.md and decision D-245, implemented
// literally and without code of src.
import type { Random } from '../../support/random.ts'
import { day as dayMs } from './moments.ts'
import { startOfDay, type Window, zoned } from './windows.ts'

/** The duration in seconds. */
export type Sums = Readonly<Record<'visitors' | 'pageviews' | 'sessions' | 'bounces' | 'duration' | 'events', number>>

export interface ImportedRow {
  list: string
  day: string
  value: string
  sums: Sums
}

export interface Imported {
  days: readonly string[]
  /** The metrics of each list. */
  lists: ReadonlyMap<string, readonly string[]>
  rows: readonly ImportedRow[]
  /** By name, in the shape of Plausible’s export. */
  files: Readonly<Record<string, string>>
}

const visits = ['visitors', 'pageviews', 'sessions', 'bounces', 'duration']
const visitsHeader = 'visitors,pageviews,visits,bounces,visit_duration'

/** What a file says, and what that is in our lists. */
interface Table {
  file: string
  header: string
  metrics: readonly string[]
  values: readonly { written: string; ours: Readonly<Record<string, string>> }[]
}

const named = (list: string, words: readonly (readonly [written: string, value: string])[]) =>
  words.map(([written, value]) => ({ written, ours: { [list]: value } }))

const same = (list: string, words: readonly string[]) =>
  named(
    list,
    words.map((word) => [`"${word.replaceAll('"', '""')}"`, word]),
  )

const tags = (utmSource = '', medium = '', campaign = '') => ({
  utm_source: utmSource,
  utm_medium: medium,
  utm_campaign: campaign,
  utm_content: '',
  utm_term: '',
})

const tables: readonly Table[] = [
  {
    file: 'pages',
    header: `hostname,page,${visitsHeader}`,
    metrics: visits,
    values: same('page', ['/', '/pricing', '/🦊', '/～', '/a b']).map(({ written, ours }) => ({
      written: `x,${written}`,
      ours,
    })),
  },
  {
    file: 'entry_pages',
    header: 'entry_page,visitors,pageviews,entrances,bounces,visit_duration',
    metrics: visits,
    values: same('entry_page', ['/', '/Pricing', '/"q"']),
  },
  {
    file: 'exit_pages',
    header: 'exit_page,visitors,pageviews,exits,bounces,visit_duration',
    metrics: visits,
    values: same('exit_page', ['/', '/docs/a']),
  },
  {
    file: 'locations',
    header: `country,${visitsHeader}`,
    metrics: visits,
    values: named('country', [
      ['DE', 'DE'],
      ['US', 'US'],
      ['AX', 'AX'],
      ['', 'ZZ'],
    ]),
  },
  {
    file: 'devices',
    header: `device,${visitsHeader}`,
    metrics: visits,
    values: named('device', [
      ['Laptop', 'Desktop'],
      ['Desktop', 'Desktop'],
      ['Mobile', 'Mobile'],
      ['', 'Unknown'],
    ]),
  },
  {
    file: 'browsers',
    header: `browser,${visitsHeader}`,
    metrics: visits,
    values: named('browser', [
      ['Chrome', 'Chrome'],
      ['Mobile Safari', 'Safari'],
      ['', 'Unknown'],
    ]),
  },
  {
    file: 'operating_systems',
    header: `operating_system,${visitsHeader}`,
    metrics: visits,
    values: named('os', [
      ['Mac', 'macOS'],
      ['Android', 'Android'],
    ]),
  },
  {
    file: 'custom_events',
    header: 'name,visitors,events',
    metrics: ['visitors', 'events'],
    values: same('event', ['signup', '404', '🦊']),
  },
  {
    file: 'sources',
    header: `source,referrer,utm_source,utm_medium,utm_campaign,${visitsHeader}`,
    metrics: visits,
    values: [
      { written: 'Google,www.google.com/,,,', ours: { referrer: 'google.com', channel: 'Organic Search', ...tags() } },
      { written: ',,,,', ours: { referrer: '', channel: 'Direct', ...tags() } },
      { written: 'x,news.example.org/a,,,', ours: { referrer: 'news.example.org', channel: 'Referral', ...tags() } },
      {
        written: 'newsletter,,newsletter,email,Spring sale',
        ours: { referrer: '', channel: 'Email', ...tags('newsletter', 'email', 'Spring sale') },
      },
    ],
  },
]

/** Undefined for most worlds. */
export function makeImported(random: Random, { zone, now }: { zone: string; now: number }): Imported | undefined {
  if (!random.oneIn(3)) return undefined
  const yesterday = zoned(now, zone).toPlainDate().subtract({ days: 1 })
  const last = yesterday.subtract({ days: random.below(random.pick([1, 5, 40, 300])) })
  const length = 1 + random.below(random.pick([2, 8, 60]))
  const days = Array.from({ length }, (_, nth) => last.subtract({ days: nth }).toString())
    .filter(() => !random.oneIn(6))
    .toReversed()
  const chosen = random.sample(tables, random.below(tables.length + 1))
  const rows: ImportedRow[] = []
  const files: Record<string, string> = {}
  const total: Table = {
    file: 'visitors',
    header: visitsHeader,
    metrics: visits,
    values: [{ written: '', ours: { total: '' } }],
  }
  for (const { file, header, metrics, values } of [total, ...chosen]) {
    const lines = [`date,${header}`]
    for (const day of days)
      for (const { written, ours } of file === 'visitors'
        ? values
        : random.sample(values, random.below(values.length + 1))) {
        const sums = drawn(random, metrics)
        const cells = metrics.map((name) => sums[name as keyof Sums])
        lines.push([day, ...(file === 'visitors' ? [] : [written]), ...cells].join(','))
        for (const [list, value] of Object.entries(ours)) rows.push({ list, day, value, sums })
      }
    files[`imported_${file}_${days[0]?.replaceAll('-', '')}_${days.at(-1)?.replaceAll('-', '')}.csv`] =
      `${lines.join('\n')}\n`
  }
  if (days.length === 0) return undefined
  const lists = new Map(
    [total, ...chosen].flatMap(({ metrics, values }) =>
      values.flatMap(({ ours }) => Object.keys(ours).map((list) => [list, metrics] as const)),
    ),
  )
  return { days, lists, rows, files }
}

function drawn(random: Random, metrics: readonly string[]): Sums {
  const of = (name: string, most: number) => (metrics.includes(name) ? random.below(most) : 0)
  const sessions = of('sessions', 9)
  return {
    visitors: 1 + random.below(6),
    pageviews: of('pageviews', 20),
    sessions,
    bounces: metrics.includes('bounces') ? random.below(sessions + 1) : 0,
    duration: of('duration', 500),
    events: of('events', 5),
  }
}

export interface Needs {
  lists: readonly { list: string; metrics: readonly string[] }[]
  isFiltered: boolean
  byHour: boolean
  excludedCountries: readonly string[]
}

/** The imported days of a window that answer a query, and those that do not, by reason. */
export interface ImportedPart {
  rows: readonly ImportedRow[]
  read: readonly string[]
  leftOut: ReadonlyMap<string, readonly string[]>
}

export const nothing: ImportedPart = { rows: [], read: [], leftOut: new Map() }

export function importedIn(imported: Imported | undefined, window: Window, needs: Needs): ImportedPart {
  const days = window.dates.filter((date) => imported?.days.includes(date))
  if (!imported || days.length === 0) return nothing
  const all = (why: string): ImportedPart => ({ ...nothing, leftOut: new Map([[why, days]]) })
  if (needs.byHour) return all('hours')
  if (needs.isFiltered) return all('filter')
  if (needs.excludedCountries.length > 0 && needs.lists.some(({ list }) => list !== 'country')) return all('exclusion')
  const isCut = (date: string) => !isWhole(window, date)
  const hasAll = needs.lists.every(({ list, metrics }) =>
    metrics.every((metric) => imported.lists.get(list)?.includes(metric)),
  )
  const read = hasAll ? days.filter((date) => !isCut(date)) : []
  const leftOut = new Map<string, string[]>()
  const [cut, missing] = [days.filter(isCut), hasAll ? [] : days.filter((date) => !isCut(date))]
  if (missing.length > 0) leftOut.set('list', missing)
  if (cut.length > 0) leftOut.set('cut', cut)
  const rows = imported.rows.filter(
    ({ list, day, value }) =>
      needs.lists.some((one) => one.list === list) &&
      read.includes(day) &&
      !(list === 'country' && needs.excludedCountries.includes(value)),
  )
  return { rows, read, leftOut }
}

function isWhole({ dates, start, end }: Window, date: string): boolean {
  const zone = start.timeZoneId
  const next = startOfDay(Temporal.PlainDate.from(date).add({ days: 1 }), zone)
  if (date === dates[0] && startOfDay(date, zone).epochMilliseconds < start.epochMilliseconds) return false
  return !(date === dates.at(-1) && end.epochMilliseconds < next.epochMilliseconds)
}

/** How each remark about imported days begins. */
export function remarksOf(parts: readonly ImportedPart[]): string[] {
  const reasons = new Set(parts.flatMap(({ leftOut }) => [...leftOut.keys()]))
  const read = parts.flatMap((part) => part.read)
  return [
    ...(read.length > 0 ? [`${textOf(read)} imported as`] : []),
    ...Array.from(
      reasons,
      (why) => `${textOf(parts.flatMap(({ leftOut }) => leftOut.get(why) ?? []))} left out, because`,
    ),
  ]
}

function textOf(dates: readonly string[]): string {
  const sorted = [...new Set(dates)].toSorted()
  const ranges: string[][] = []
  for (const date of sorted) {
    const last = ranges.at(-1)?.at(-1)
    if (last && Date.parse(date) - Date.parse(last) === dayMs) ranges.at(-1)?.push(date)
    else ranges.push([date])
  }
  const texts = ranges.map((range) => (range.length === 1 ? `${range[0]}` : `${range[0]} to ${range.at(-1)}`))
  const rest = texts.length > 5 ? ` and ${texts.length - 5} more ranges of days` : ''
  return `${texts.slice(0, 5).join(', ')}${rest} ${sorted.length === 1 ? 'is' : 'are'}`
}
