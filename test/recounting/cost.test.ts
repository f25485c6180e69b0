// What recounting a day costs: a round over 10,000 days ends within a week, and takes a hundredth of a core.
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { recountOnce } from '../../src/recounting/loop.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { openStores } from '../support/stores.ts'

const visits = 12
const share = 0.01
const weekSeconds = 7 * 86_400

/** Seconds of CPU of all statements of the server, which nobody else uses. */
async function cpuOf(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rowsPatiently<{ seconds: number }>(sql`
    SELECT sum(value) / 1e6 AS seconds FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')`)
  return row?.seconds ?? 0
}

test('recounting takes a hundredth of a core, and 10,000 days of a thousand events take less than a week', async (t) => {
  const { postgres, clickhouse } = await openStores()
  const accountId = await createAccount(postgres, { name: 'Cost', plan: 'Free' })
  const siteId = await createSite(postgres, { accountId, domain: 'cost.example' })
  const last = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
  await generateDemo({
    clickhouse,
    siteId,
    domain: 'cost.example',
    zone: 'UTC',
    until: Date.now(),
    events: 400_000,
    seed: 1,
  })
  await rollUpSite({ postgres, clickhouse }, siteId, last)
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
  // The pause follows the time of the statements, which on a busy machine is longer than their CPU: it then waits longer on purpose.
  assert.ok(10_000 * (cpu / visits) <= share * weekSeconds, told)
})
