import Type from 'typebox'
import { dimensionNames, dimensionOf } from '../../stats/questions/dimensions.ts'
import { describe, headingOf, subject, subjectText, units, unitsOf } from '../answers.ts'
import { counted, fieldsOf, findSite, input, query } from '../inputs.ts'
import { tool } from '../tool.ts'
import { untrustedNote, visitorText } from '../visitor-text.ts'

type Row = Readonly<Record<string, string | number | null>>

const defaultLimit = 10

export const breakdown = tool({
  name: 'breakdown',
  title: 'Top lists',
  description:
    'Ranks the traffic of one site in a range by any dimension: pages, sources, campaigns, countries, browsers, custom events, their properties, goals.',
  input: input({
    by: Type.String({ maxLength: 70, description: `What to list: one of ${dimensionNames}.` }),
    ...query,
    ...counted,
    order: Type.Optional(
      Type.String({
        maxLength: 50,
        description: 'One of metrics, with :asc for the smallest first. The default is the first one, largest first.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: `Most rows; ${defaultLimit} by default.` }),
    ),
  }),
  output: Type.Object({
    ...subject,
    by: Type.String(),
    rows: Type.Array(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])), {
      description: 'The value of by, null if there is none, and the metrics.',
    }),
    total_rows: Type.Integer({ description: 'Rows without the limit.' }),
    units,
    untrusted: Type.Object({
      fields: Type.Array(Type.String(), { description: 'Fields of the rows whose text visitors chose.' }),
      note: Type.String(),
    }),
  }),
  async run({ by, order, limit = defaultLimit, ...request }, call) {
    const site = await findSite(request.site, call)
    const list = [['by', by], ['limit', String(limit)], ...(order === undefined ? [] : [['order', order] as const])]
    const fields = [...fieldsOf(request, site, call.now), ...(list as [string, string][])]
    const answer = await call.source.ask('breakdown', site.id, fields, call.signal)
    const isUntrusted = !dimensionOf(by)?.isOurs
    const rows = (answer.data as Row[]).map((row) => {
      const value = row[by]
      return isUntrusted && typeof value === 'string' ? { ...row, [by]: visitorText(value) } : row
    })
    const about = describe(site, answer, call.now)
    const total = answer.totalRows ?? rows.length
    const columns = Object.keys(rows[0] ?? {})
    const lines = rows.map((row) =>
      columns.map((column) => (column === by && isUntrusted ? JSON.stringify(row[column]) : String(row[column]))),
    )
    const note = isUntrusted && rows.length > 0 ? `\nText in quotes: ${untrustedNote}` : ''
    const table = [columns.map(headingOf), ...lines].map((cells) => cells.join('\t')).join('\n')
    return {
      data: {
        ...about,
        by,
        rows,
        total_rows: total,
        units: unitsOf(columns.filter((column) => column !== by)),
        untrusted: { fields: isUntrusted ? [by] : [], note: isUntrusted ? untrustedNote : '' },
      },
      text: `${subjectText(about)}\n${rows.length} of ${total} by ${by}${note}\n${table}`.trimEnd(),
    }
  },
})
