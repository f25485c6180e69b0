import Type from 'typebox'
import { sql } from '../../stores/clickhouse-sql.ts'
import { channels as labels } from '../../traffic/channel.ts'
import { dailyMetrics } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { halfUp } from '../rounding.ts'
import { unitOf, visitors } from '../shapes.ts'

interface Row {
  channel: string
  visitors: number
}

export const channels: Report = {
  summary: 'Visitors by traffic channel',
  details: 'All channels with visitors, the most first. The channel of a visit is decided by its first event.',
  limited: false,
  lists: [
    { list: 'channel', metrics: ['visitors'] },
    { list: 'total', metrics: ['visitors'] },
  ],
  data: Type.Array(
    Type.Object({
      channel: Type.String({ enum: [...labels], description: 'How visitors came, classified when the session began.' }),
      visitors,
      percentage: Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          'Share of all visitors in percent, a whole number rounded half up. A visitor may arrive by two channels in a day, so shares can exceed 100 together.',
        ...unitOf('percent'),
      }),
    }),
  ),
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Row>(
      sql`
        SELECT value AS channel, sum(visitors) AS visitors
        FROM ${dailyMetrics(query, 'channel', { withTotal: true })}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY visitors DESC, channel`,
      signal,
    )
    const total = rows.find(({ channel }) => channel === '')?.visitors ?? 0
    const data = rows
      .filter(({ channel }) => channel !== '')
      .map(({ channel, visitors }) => ({ channel, visitors, percentage: halfUp(visitors * 100, total) }))
    return { data }
  },
}
