// What recounting a day costs: a round over 10,000 days ends within a week, and takes a hundredth of a core.
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { availableParallelism, loadavg } from 'node:os'
import test from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { dayMs } from '../../src/durations.ts'
import { recountOnce } from '../../src/recounting/loop.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { date, type Sql, sql, text, uint } from '../../src/stores/clickhouse-sql.ts'
import { inTime } from '../support/in-time.ts'
import { startOwnClickHouse } from '../support/own-stores.ts'
import { connect, disconnect, openStores } from '../support/stores.ts'

const visits = 6
/** Nine days before today, the last one first. */
const days = Array.from({ length: 9 }, (_, back) =>
  new Date(Date.now() - (back + 2) * dayMs).toISOString().slice(0, 10),
)
const eventsPerDay = 1_000
const share = 0.01
const weekSeconds = 7 * 86_400

/** Seconds of CPU of all statements of the server, which nobody else uses. */
async function cpuOf(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rowsPatiently<{ seconds: number }>(sql`
    SELECT sum(value) / 1e6 AS seconds FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')`)
  return row?.seconds ?? 0
}

/** 250 visitors of five countries with two sessions each, who come from 40 places to 200 pages. */
const eventsOf = (siteId: string, day: string): Sql => sql`
  INSERT INTO events (site_id, day, time, visitor_id, session_id, event_id, name, hostname, pathname, referrer, channel, utm_source,
    country, device, browser, os)
  SELECT ${text(siteId)}, ${date(day)}, toDateTime64(${date(day)}, 3, 'UTC') + number * 80, visitor, cityHash64(visitor, number % 500),
    rand64(1), if(number % 9 = 0, 'Signup', 'pageview'), 'cost.example', concat('/', toString(rand(2) % 200)),
    if(visit % 3 = 0, '', concat('from-', toString(visit % 40), '.example')), if(visit % 3 = 0, 'Direct', 'Referral'),
    if(visit % 5 = 0, 'letter', ''), ['DE', 'US', 'FR', 'GB', 'ES'][1 + visitor % 5], ['Desktop', 'Mobile'][1 + visitor % 2],
    ['Firefox', 'Chrome', 'Safari'][1 + visitor % 3], ['Linux', 'Windows'][1 + visitor % 2]
  FROM (SELECT number, number % 500 AS visit, 1 + number % 250 AS visitor FROM numbers(${uint(eventsPerDay)}))`

test('recounting takes a hundredth of a core, and 10,000 days of a thousand events take less than a week', async (t) => {
  // A server of its own, because its CPU is counted.
  const own = await startOwnClickHouse()
  const stores = await openStores()
  const { postgres, clickhouse, cluster } = connect({ ...stores.addresses, clickhouse: own.url })
  t.after(async () => {
    await disconnect({ ...stores, postgres, clickhouse })
    await own.remove()
  })
  await migrate({ postgres, cluster })
  const accountId = await createAccount(postgres, { name: 'Cost', plan: 'Free' })
  const siteId = await createSite(postgres, { accountId, domain: 'cost.example' })
  for (const day of days) await clickhouse.run(eventsOf(siteId, day))
  await rollUpSite({ postgres, clickhouse }, siteId, days[0] as string)
  const options = { signal: new AbortController().signal, settleMs: 1 }
  await recountOnce({ postgres, clickhouse }, options) // reads everything for the first time
  const begun = { clickhouse: await cpuOf(clickhouse), own: process.cpuUsage(), at: performance.now() }
  let answers = 0
  let restSeconds = 0
  for (let done = 0; done < visits; ) {
    await postgres`UPDATE recount_shards SET due_at = now()`
    const visit = await recountOnce({ postgres, clickhouse }, options)
    assert.equal(visit?.differences, 0)
    if (visit.isEmpty) continue
    const [{ seconds }] = await postgres<[{ seconds: number }]>`
      SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM recount_shards`
    restSeconds += seconds
    answers += visit.answers
    done++
  }
  const seconds = (performance.now() - begun.at) / 1000 + restSeconds
  const { user, system } = process.cpuUsage(begun.own)
  const ofClickhouse = (await cpuOf(clickhouse)) - begun.clickhouse
  const cpu = ofClickhouse + (user + system) / 1e6
  const each = (number: number) => (number / visits).toFixed(2)
  const told = `${each(answers)} answers a day; ${each(cpu)} s of CPU, ${each(ofClickhouse)} s of it in ClickHouse; a day every ${each(seconds)} s; ${((100 * cpu) / seconds).toFixed(2)} % of a core`
  t.diagnostic(told)
  assert.ok(cpu / seconds <= share, told)
  // The pause follows the time of the statements, which on a busy machine is longer than their CPU: it then waits longer on purpose. And
  // there everything takes more CPU than alone.
  if ((loadavg()[0] as number) > availableParallelism()) return
  inTime(10_000 * (cpu / visits) <= share * weekSeconds, told)
})
