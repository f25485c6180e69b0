import Type from 'typebox'
import type { ListRow } from '../../stats/csv.ts'
import type { ReportName } from '../../stats/reports.ts'
import { describe, subject, subjectText, units } from '../answers.ts'
import { findSite, input, oneOf, query, readQuery } from '../inputs.ts'
import { tool } from '../tool.ts'
import { untrustedNote, visitorText } from '../visitor-text.ts'

/** The report of each list, and its fields with text of visitors. */
const lists = {
  pages: { report: 'pages', untrusted: ['pathname', 'title'] },
  referrers: { report: 'referrers', untrusted: ['referrer'] },
  channels: { report: 'channels', untrusted: [] },
  devices: { report: 'devices', untrusted: [] },
  countries: { report: 'geo', untrusted: [] },
  events: { report: 'events', untrusted: ['name'] },
  utm: { report: 'utm', untrusted: ['name'] },
} as const satisfies Record<string, { report: ReportName; untrusted: readonly string[] }>

type List = keyof typeof lists

export const breakdown = tool({
  name: 'breakdown',
  title: 'Top lists',
  description:
    'Ranks the traffic of one site in a range: pages and referrers by views, channels, devices, countries and utm (UTM sources) by visitors, events (custom events) by count.',
  input: input({
    by: oneOf(Object.keys(lists) as List[], 'What to list.'),
    ...query,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Most rows; 10 by default. channels has no limit.' }),
    ),
  }),
  output: Type.Object({
    ...subject,
    by: Type.String(),
    rows: Type.Array(Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()]))),
    total_rows: Type.Integer({ description: 'Rows without the limit.' }),
    units,
    untrusted: Type.Object({
      fields: Type.Array(Type.String(), { description: 'Fields of the rows whose text visitors chose.' }),
      note: Type.String(),
    }),
  }),
  async run({ by, ...request }, call) {
    const { report, untrusted } = lists[by]
    const site = await findSite(request.site, call)
    const parameters = readQuery(request, site, call.now)
    const answer = await call.source.read(report, site.id, parameters, call.signal)
    const rows = (answer.data as ListRow[]).map((row) => readable(row, untrusted))
    const about = describe(site, parameters, answer, call.now)
    const total = answer.totalRows ?? rows.length
    const columns = Object.keys(rows[0] ?? {})
    const lines = rows.map((row) => columns.map((column) => cellOf(row[column], isUntrusted(untrusted, column))))
    const note = untrusted.length > 0 && rows.length > 0 ? `\nText in quotes: ${untrustedNote}` : ''
    const table = [columns, ...lines].map((cells) => cells.join('\t')).join('\n')
    return {
      data: {
        ...about,
        by,
        rows,
        total_rows: total,
        units: unitsOf(columns),
        untrusted: { fields: untrusted, note: untrusted.length > 0 ? untrustedNote : '' },
      },
      text: `${subjectText(about)}\n${rows.length} of ${total} ${by}${note}\n${table}`.trimEnd(),
    }
  },
})

const isUntrusted = (fields: readonly string[], field: string): boolean => fields.includes(field)

const readable = (row: ListRow, untrusted: readonly string[]): ListRow =>
  Object.fromEntries(
    Object.entries(row).map(([field, value]) => [
      field,
      isUntrusted(untrusted, field) ? visitorText(String(value)) : value,
    ]),
  )

const cellOf = (value: string | number | undefined, quoted: boolean): string =>
  quoted ? JSON.stringify(value) : String(value)

const unitsOf = (columns: readonly string[]) =>
  Object.fromEntries(
    columns
      .filter((column) => ['views', 'visitors', 'count', 'percentage'].includes(column))
      .map((column) => [column, column === 'percentage' ? 'percent' : 'count']),
  )
