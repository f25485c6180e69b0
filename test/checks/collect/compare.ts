// Compares the ledger of acknowledged events with ClickHouse and the API: nothing is lost, nothing is counted twice.
import { storedId } from '../../../src/traffic/recording.ts'
import { eventually } from '../../support/eventually.ts'
import { type Check, pause } from '../runner.ts'
import type { Installation, Site } from './installation.ts'
import type { Ledger } from './load.ts'

export interface Comparison {
  acknowledged: number
  lost: number
  twice: number
  /** Events in ClickHouse that were never acknowledged. */
  unacknowledged: number
}

export async function compare(
  check: Check,
  { ask, api }: Installation,
  what: string,
  site: Site,
  ledger: Ledger,
  timeoutMs = 60_000,
): Promise<Comparison> {
  const count = async () => Number((await ask(`SELECT count() FROM events WHERE site_id = '${site.id}'`))[0]?.[0])
  await eventually(async () => {
    if ((await count()) < ledger.acknowledged.size) throw new Error('not all events have arrived')
  }, timeoutMs).catch(() => {})
  await pause(2_500) // duplicates arrive later
  const rows = await ask(`SELECT event_id, count() FROM events WHERE site_id = '${site.id}' GROUP BY event_id`)
  const held = new Map(rows.map(([id, times]) => [id as string, Number(times)]))
  const acknowledged = new Set([...ledger.acknowledged].map(storedId))
  const lost = [...acknowledged].filter((id) => !held.has(id)).length
  const twice = [...held.values()].filter((times) => times > 1).length
  const unacknowledged = [...held.keys()].filter((id) => !acknowledged.has(id)).length
  if (lost > 0) check.fault('lost', `${what}: ${lost} of ${ledger.acknowledged.size} acknowledged events`)
  if (twice > 0) check.fault('twice', `${what}: ${twice} events`)
  if (unacknowledged > 0) check.fault('unacknowledged', `${what}: ${unacknowledged} events`)
  for (const answer of ledger.odd.slice(0, 3)) check.fault('answer', `${what}: ${answer}`)

  const response = await fetch(`${api.url}/api/v1/stats/overview?range=7d`, {
    headers: { Authorization: `Bearer ${site.key}` },
  })
  const said = ((await response.json()) as { data: { current: { pageviews: number; visitors: number } } }).data?.current
  const [pageviews, visitors] = [ledger.acknowledged.size, ledger.visitors.size]
  if (said?.pageviews !== pageviews || said?.visitors !== visitors) {
    check.fault('API', `${what}: ${JSON.stringify(said)} instead of ${pageviews} pageviews, ${visitors} visitors`)
  }
  check.say(`${what}: ${pageviews} acknowledged, ${lost} lost, ${twice} twice`)
  return { acknowledged: pageviews, lost, twice, unacknowledged }
}
