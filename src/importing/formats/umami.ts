// Umami's table `website_event` as CSV: the file of its cloud, or of PostgreSQL and ClickHouse (docs/migrate/umami.md). The same session is
// the same visitor. Columns that are not read here are ignored.
import { LineFault, readLines } from '../lines.ts'
import { attempt, type FileRecord, readCsv } from '../records.ts'
import type { Format, LeftOut } from './format.ts'
import { browserCalled, countryCalled, deviceCalled, fieldsOf, systemCalled } from './names.ts'

const needed = ['session_id', 'url_path', 'created_at', 'event_type'] as const

export const umami: Format = {
  name: 'umami',
  isKnownBy: (head) => needed.every((name) => (head.split('\n', 1)[0] as string).includes(name)),
  read,
  leavesOutBrokenLines: true,
}

async function* read(content: AsyncIterable<Buffer>, domain: string): AsyncGenerator<FileRecord | LeftOut | LineFault> {
  for await (const row of readCsv(readLines(content), checkHeader))
    yield row instanceof LineFault ? row : attempt(row.line, () => recordOf(row, domain))
}

function checkHeader(names: readonly string[]): void {
  const missing = needed.filter((name) => !names.includes(name))
  if (missing.length > 0) throw new Error(`the header has no ${missing.join(', ')}`)
}

function recordOf({ line, fields }: FileRecord, domain: string): FileRecord | LeftOut {
  const field = (name: string): string => (fields.get(name) === '\\N' ? '' : (fields.get(name) ?? ''))
  const type = field('event_type')
  if (type !== '1' && type !== '2') return { line, reason: 'clicks on short links, pixels and measurements of speed' }
  const query = field('url_query')
  const host = field('referrer_domain')
  return {
    line,
    fields: fieldsOf({
      time: timeOf(field('created_at')),
      name: type === '2' ? field('event_name') : '',
      url: `https://${field('hostname') || domain}${field('url_path') || '/'}${query && `?${query}`}`,
      title: field('page_title'),
      referrer: host && `https://${host}${field('referrer_path')}`,
      visitor: field('session_id'),
      country: countryCalled(field('country')),
      device: deviceCalled(field('device')),
      browser: browserCalled(field('browser')),
      os: systemCalled(field('os')),
      utm_source: field('utm_source'),
      utm_medium: field('utm_medium'),
      utm_campaign: field('utm_campaign'),
      utm_content: field('utm_content'),
      utm_term: field('utm_term'),
    }),
  }
}

/** ClickHouse writes UTC without an offset, PostgreSQL an offset. */
const timeOf = (text: string): string => (/(Z|[+-]\d\d(:?\d\d)?)$/.test(text.slice(10)) ? text : `${text}Z`)
