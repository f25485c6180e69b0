// Compares all columns of a site's events with the model, because no report shows all of them.
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { date, sql, text } from '../../../src/stores/clickhouse-sql.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'

/** Ids of imported events, visitors and sessions are random, and so is the import's: the model knows only whether there is one. */
const columnsOf = (event: TrafficEvent) => ({
  day: event.day,
  ms: event.time,
  name: event.name,
  hostname: event.hostname,
  pathname: event.pathname,
  referrer: event.referrer,
  channel: event.channel,
  utm_source: event.utmSource,
  utm_medium: event.campaign?.medium ?? '',
  utm_campaign: event.campaign?.campaign ?? '',
  utm_content: event.campaign?.content ?? '',
  utm_term: event.campaign?.term ?? '',
  country: event.country,
  device: event.device,
  browser: event.browser ?? '',
  os: event.os ?? '',
  props: sorted(event.props ?? {}),
  revenue: event.revenue?.amount ?? 0,
  currency: event.revenue?.currency ?? '',
  imported: Number(event.importId !== undefined),
})

type Row = ReturnType<typeof columnsOf>

const sorted = (props: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(props).sort())

/** Events that only one side has, as JSON. Those before `eventsFrom` may be dropped. */
export async function differentEvents(
  clickhouse: ClickHouse,
  siteId: string,
  events: readonly TrafficEvent[],
  eventsFrom: string,
): Promise<string[]> {
  const rows = await clickhouse.rowsPatiently<Row>(sql`
    SELECT
      day, toUnixTimestamp64Milli(time) AS ms, name, hostname, pathname, referrer, channel, utm_source, utm_medium, utm_campaign,
      utm_content, utm_term, country, device, browser, os, props, revenue, currency, import_id != 0 AS imported
    FROM events WHERE site_id = ${text(siteId)} AND day >= ${date(eventsFrom)}`)
  const counts = new Map<string, number>()
  const count = (row: Row, by: 1 | -1) => {
    const line = JSON.stringify({ ...row, props: sorted(row.props) })
    counts.set(line, (counts.get(line) ?? 0) + by)
  }
  for (const event of events) if (event.day >= eventsFrom) count(columnsOf(event), 1)
  for (const row of rows) count(row, -1)
  return [...counts]
    .filter(([, missing]) => missing !== 0)
    .map(([line, missing]) => `${missing > 0 ? 'missing' : 'only in ClickHouse'}: ${line}`)
}
