// Plausible's export (docs/migrate/plausible.md): a ZIP with a CSV for each list, or these files unpacked. The days are those of the time zone
// that the site has there. Rows are finer than our lists (cities, versions), so several of them have the same value and are added up.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Site } from '../../accounts/sites.ts'
import type { DayRange } from '../../calendar/days.ts'
import { classifyChannel } from '../../enrichment/channel.ts'
import { maxNameLength } from '../../enrichment/page.ts'
import { campaignOf, readReferrer } from '../../enrichment/source.ts'
import { cleanText } from '../../enrichment/text.ts'
import { isCountryCode } from '../../traffic/country.ts'
import { contentOf } from '../content.ts'
import { browserCalled, countryCalled, deviceCalled, systemCalled } from '../formats/names.ts'
import { LineFault, readLines } from '../lines.ts'
import { attempt, type FileRecord, readCsv } from '../records.ts'
import { type ArchivedFile, filesIn, isArchive } from './archive.ts'
import {
  countOf,
  type DaySum,
  dayNamed,
  type SumName,
  type SumsFormat,
  type SumsLine,
  type SumsReason,
  type SumsTable,
  sumsOfTotal,
  total,
} from './format.ts'

const fileName = /^imported_([a-z_]+?)(?:_(\d{8})_(\d{8}))?\.csv$/

export const plausible: SumsFormat = {
  name: 'plausible',
  isKnownBy: (path) => isArchive(path) || fileName.test(basename(path)),
  async *tables(path, site, onBytes) {
    const files = isArchive(path) ? filesIn(path, onBytes) : [unpacked(path, onBytes)]
    for await (const file of files) {
      const table = await tableOf(file, site)
      if (table) yield table
    }
  },
}

const unpacked = (path: string, onBytes: (bytes: number) => void): ArchivedFile => ({
  name: basename(path),
  content: async () => contentOf(path, statSync(path).size, (chunk) => onBytes(chunk.length)),
})

type Field = (name: string) => string

interface Table {
  /** The lists of a row and its value in each. A row without a value is one of visits that have none. */
  values(field: Field, site: Site): Readonly<Record<string, string>>
  lists: readonly string[]
  /** Columns that the lists cannot do without. */
  needs: readonly SumName[]
}

const one = (list: string, valueIn: (field: Field) => string, needs: readonly SumName[] = ['visitors']): Table => ({
  lists: [list],
  needs,
  values: (field) => ({ [list]: valueIn(field) }),
})

const longest = 255
const path = (column: string) => (field: Field) => cleanText(field(column), 2_000)

const tables: Readonly<Record<string, Table>> = {
  visitors: one(total, () => '', sumsOfTotal),
  pages: one('page', path('page'), ['visitors', 'pageviews']),
  entry_pages: one('entry_page', path('entry_page')),
  exit_pages: one('exit_page', path('exit_page')),
  locations: one('country', (field) => {
    const code = countryCalled(field('country'))
    return isCountryCode(code) ? code : 'ZZ'
  }),
  devices: one('device', (field) => deviceCalled(field('device'))),
  browsers: one('browser', (field) => familyOf(browserCalled(field('browser')))),
  operating_systems: one('os', (field) => familyOf(systemCalled(field('operating_system')))),
  custom_events: one('event', (field) => cleanText(field('name'), maxNameLength), ['visitors', 'events']),
  sources: {
    lists: ['referrer', 'channel', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'],
    needs: ['visitors'],
    values(field, site) {
      const tag = (name: string) => cleanText(field(name), longest)
      const written = field('referrer')
      const address = written === '' || /^[a-z-]+:\/\//i.test(written) ? written : `https://${written}`
      const referrer = readReferrer(new URL(`https://${site.domain}/`), address, site)
      const tags = { medium: tag('utm_medium'), campaign: tag('utm_campaign') }
      const [content, term, utmSource] = [tag('utm_content'), tag('utm_term'), tag('utm_source')]
      const channel = classifyChannel({
        referrer,
        // A source without a referrer and a tag is one that Plausible found in the address.
        utmSource: utmSource || (referrer === '' ? tag('source') : ''),
        campaign: campaignOf({ ...tags, content, term }),
        clickId: '',
      })
      return {
        referrer,
        channel,
        utm_source: utmSource,
        utm_medium: tags.medium,
        utm_campaign: tags.campaign,
        utm_content: content,
        utm_term: term,
      }
    },
  },
}

const familyOf = (name: string): string => cleanText(name, 60) || 'Unknown'

/** Their columns. Which of them a table has is in its header. */
const columns: Readonly<Record<string, SumName>> = {
  visitors: 'visitors',
  pageviews: 'pageviews',
  visits: 'sessions',
  entrances: 'sessions',
  exits: 'sessions',
  bounces: 'bounces',
  visit_duration: 'duration',
  events: 'events',
}

/** Recorded to measure how long pages are read. */
const ownEvents = new Set(['engagement'])

async function tableOf({ name, content }: ArchivedFile, site: Site): Promise<SumsTable | undefined> {
  const [, kind = '', first, last] = fileName.exec(name) ?? []
  const table = tables[kind]
  if (!table) return undefined
  let metrics: SumName[] = []
  const records = readCsv(readLines(await content()), (names) => {
    metrics = [...new Set(names.flatMap((column) => columns[column] ?? []))]
    const missing = [
      ...(names.includes('date') ? [] : ['date']),
      ...table.needs.filter((one) => !metrics.includes(one)),
    ]
    if (missing.length > 0) throw new Error(`the header of ${name} has no ${missing.join(', ')}`)
  })
  // The header is read together with the first line, and a table says what it has before its lines are read.
  const begun = await records.next()
  async function* lines(): SumsTable['lines'] & AsyncGenerator {
    for (let next = begun; !next.done; next = await records.next()) {
      const record = next.value
      yield record instanceof LineFault ? record : attempt(record.line, () => lineOf(record, table as Table, site))
    }
  }
  return {
    name,
    lists: table.lists.map((list) => ({ list, metrics })),
    range: rangeOf(first, last),
    lines: lines(),
  }
}

const rangeOf = (first: string | undefined, last: string | undefined): DayRange | undefined =>
  first && last ? [dayNamed(first), dayNamed(last)] : undefined

function lineOf(
  { line, fields }: FileRecord,
  { values }: Table,
  site: Site,
): SumsLine | { line: number; reason: SumsReason } {
  const field: Field = (name) => fields.get(name) ?? ''
  const day = dayNamed(field('date'))
  const sums: DaySum['sums'] = Object.fromEntries(
    Object.entries(columns)
      .filter(([column]) => fields.has(column))
      .map(([column, name]) => {
        const count = countOf(field(column), column)
        return [name, name === 'duration' ? 1000 * count : count]
      }),
  )
  if (ownEvents.has(field('name'))) return { line, reason: 'events that the product records by itself' }
  return { line, rows: Object.entries(values(field, site)).map(([list, value]) => ({ list, day, value, sums })) }
}
