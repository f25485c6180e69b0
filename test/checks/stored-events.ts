// Compares the events that were acknowledged with those that ClickHouse has.
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { storedId } from '../../src/traffic/recording.ts'
import { eventually } from '../support/eventually.ts'
import type { Load } from './collect/load.ts'
import type { Check } from './runner.ts'

export interface LoadedSite {
  id: string
  domain: string
  shard: number
  load: Load
}

export const noEvents = () => ({ acknowledged: 0, lost: 0, twice: 0, elsewhere: 0 })

/** How often ClickHouse has each event of a site, by its stored id. */
async function storedEvents(clickhouse: ClickHouse, siteId: string): Promise<Map<string, number>> {
  const rows = await clickhouse.rowsPatiently<{ id: string; times: number }>(sql`
    SELECT toString(event_id) AS id, count() AS times FROM events WHERE site_id = ${text(siteId)} GROUP BY event_id`)
  return new Map(rows.map((row) => [row.id, row.times]))
}

/** Compares what was acknowledged with what one server of the shard has, and what those of other shards have. */
export async function compareEvents(
  check: Check,
  { id, domain, shard, load }: LoadedSite,
  own: ClickHouse,
  servers: readonly ClickHouse[],
  counts: ReturnType<typeof noEvents>,
): Promise<void> {
  const acknowledged = new Set([...load.ledger.acknowledged].map(storedId))
  await eventually(async () => {
    const found = await storedEvents(own, id)
    if (![...acknowledged].every((one) => found.has(one))) throw new Error('not all events have arrived')
  }, 60_000).catch(() => {})
  const found = await storedEvents(own, id)
  const lost = [...acknowledged].filter((one) => !found.has(one)).length
  const twice = [...found.values()].filter((times) => times > 1).length
  let elsewhere = 0
  for (const other of servers) if (other.shard !== shard) elsewhere += (await storedEvents(other, id)).size
  if (lost > 0) check.fault('lost', `${lost} of ${acknowledged.size} acknowledged events of ${domain}`)
  if (twice > 0) check.fault('twice', `${twice} events of ${domain}`)
  if (elsewhere > 0) check.fault('on the wrong shard', `${elsewhere} events of ${domain}`)
  counts.acknowledged += acknowledged.size
  counts.lost += lost
  counts.twice += twice
  counts.elsewhere += elsewhere
}
