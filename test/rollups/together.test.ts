// Many small sites are rolled up with the same statements: with the rows that each gets alone, and whatever happens to some of them
// meanwhile (decision D-200).
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, deleteSite, findSite } from '../../src/accounts/sites.ts'
import { eraseRows } from '../../src/erasure/job.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { sweep } from '../../src/rollups/sweep.ts'
import { rollUpTogether } from '../../src/rollups/together.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { seeded } from '../support/random.ts'
import { openStores } from '../support/stores.ts'

const closed = '2026-03-14'
const now = Date.parse('2026-03-15T12:00:00Z')

async function openSites() {
  const stores = await openStores()
  const { postgres, clickhouse } = stores
  // A round visits all sites of the database.
  await postgres`DELETE FROM sites`
  const accountId = await createAccount(postgres, { name: 'Many sites', plan: 'Agency' })
  const record = async (siteId: string, ...hits: Hit[]) => {
    const events = hits.map((hit) => eventOf(hit, siteId, 'UTC'))
    await recordBatch(clickhouse, { id: randomUUID(), events })
    await invalidateDays(postgres, events)
  }
  const create = async (...hits: Hit[]) => {
    const siteId = await createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
    if (hits.length > 0) await record(siteId, ...hits)
    return siteId
  }
  const together = (ids: readonly string[], through: ClickHouse = clickhouse) =>
    rollUpTogether(
      { postgres, clickhouse: through },
      ids.map((id) => ({ id, hasRollups: false })),
      closed,
      1,
    )
  const covered = async (id: string) => (await findSite(postgres, id))?.coverage.versions
  return { ...stores, create, record, together, covered }
}

/** Visitors with several hosts, sources and sessions, in two months. */
function trafficOf(seed: string): Hit[] {
  const random = seeded(seed)
  return Array.from({ length: 60 }, () => {
    const visitor = random.pick(['a', 'b', 'c'])
    const day = random.pick(['2026-02-01', '2026-02-28', '2026-03-02', '2026-03-14', '2026-03-15'])
    return {
      at: `${day}T${String(random.below(24)).padStart(2, '0')}:00:00Z`,
      name: random.oneIn(4) ? 'signup' : 'pageview',
      visitor,
      session: random.pick(['early', 'late']),
      country: visitor === 'a' ? ('DE' as const) : ('US' as const),
      device: visitor === 'c' ? ('Mobile' as const) : ('Desktop' as const),
      hostname: random.pick(['example.com', 'shop.example.com']),
      pathname: random.pick(['/', '/prices', '/about us']),
      ...(visitor === 'b' && { utmSource: 'news', referrer: 'news.example' }),
    }
  })
}

const hit = (day: string, visitor = 'somebody'): Hit => ({ at: `${day}T10:00:00Z`, visitor })

/** Does something before the first statement. */
function interrupted(clickhouse: ClickHouse, meanwhile: () => Promise<unknown>): ClickHouse {
  let pending: (() => Promise<unknown>) | undefined = meanwhile
  return {
    ...clickhouse,
    async run(...given) {
      const act = pending
      pending = undefined
      await act?.()
      return clickhouse.run(...given)
    },
  }
}

test('sites that are rolled up together get the rows that each gets alone', async () => {
  const { postgres, clickhouse, create, together } = await openSites()
  const seeds = ['one', 'two']
  const alone: string[] = []
  const many: string[] = []
  for (const seed of seeds) {
    alone.push(await create(...trafficOf(seed)))
    many.push(await create(...trafficOf(seed)))
  }
  const quiet = await create()
  for (const id of alone) await rollUpSite({ postgres, clickhouse }, id, closed)
  const done = await together([...many, quiet])
  assert.deepEqual([...done.values()].sort(), [0, 42, 42])

  const rowsOf = async (id: string) => {
    const rows = await clickhouse.rows(sql`
      SELECT * EXCEPT (site_id, sessions, bounces, duration), sessions, bounces, duration FROM short_rollups WHERE site_id = ${text(id)}
      UNION ALL
      SELECT * EXCEPT site_id, 0, 0, 0 FROM long_rollups WHERE site_id = ${text(id)}`)
    return rows.map((row) => JSON.stringify(row)).sort()
  }
  for (const [index, id] of many.entries()) {
    const rows = await rowsOf(id)
    assert.ok(rows.length > 500)
    assert.deepEqual(rows, await rowsOf(alone[index] as string))
    assert.deepEqual((await verifySite({ postgres, clickhouse }, id)).wrong, [])
  }
})

test('a round rolls up small sites together and large ones alone, and leaves out those with few events', async () => {
  const { postgres, clickhouse, create, record, covered } = await openSites()
  const small = [await create(hit('2026-03-14'), hit('2026-03-13')), await create(hit('2026-03-14'), hit('2026-03-10'))]
  const tiny = await create(hit('2026-03-14'))
  const large = await create(hit('2026-03-14'))
  await clickhouse.run(sql`
    INSERT INTO events SELECT events.* REPLACE (number AS event_id, number AS visitor_id, number AS session_id)
    FROM events CROSS JOIN numbers(20000) AS numbers WHERE site_id = ${text(large)}`)
  const round = () => rollUpRound({ postgres, clickhouse }, { now, minYearEvents: 2 })
  assert.deepEqual(await round(), { sites: 3, days: 42, failed: 0 })
  const all = [{ version: 1, layout: 2, days: [['2026-03-01', closed]], months: [] }]
  for (const id of [...small, large]) assert.deepEqual(await covered(id), all)
  assert.deepEqual(await covered(tiny), [])
  const [row] = await postgres<{ events: number }[]>`
    SELECT last_day_events AS events FROM rollup_state WHERE site_id = ${small[0] as string}`
  assert.equal(row?.events, 1)

  const [one, other] = small as [string, string]
  const late = async (...ids: string[]) => {
    for (const id of ids) await record(id, hit('2026-03-02', randomUUID()))
    await postgres`UPDATE rollup_state SET considered_at = now() - interval '5 minutes'`
    return round()
  }
  assert.deepEqual(await late(one), { sites: 1, days: 1, failed: 0 })
  // The same day of both, but one of them has been rolled up more often.
  assert.deepEqual(await late(one, other), { sites: 2, days: 2, failed: 0 })
  const versionOf = async (id: string) =>
    (await covered(id))?.find(({ days }) => days.some(([first]) => first === '2026-03-02'))?.version
  assert.deepEqual([await versionOf(one), await versionOf(other)], [3, 2])
  for (const id of small) assert.deepEqual((await verifySite({ postgres, clickhouse }, id)).wrong, [])
})

test('an event that arrives meanwhile leaves its day to the events, and the next round rolls it up', async () => {
  const { postgres, clickhouse, create, record, together, covered } = await openSites()
  const [one, other] = [await create(hit('2026-03-14')), await create(hit('2026-03-14'))] as const
  await together(
    [one, other],
    interrupted(clickhouse, () => record(one, hit('2026-03-14', 'late'))),
  )
  assert.deepEqual(await covered(one), [{ version: 1, layout: 2, days: [['2026-03-01', '2026-03-13']], months: [] }])
  assert.deepEqual(await covered(other), [{ version: 1, layout: 2, days: [['2026-03-01', closed]], months: [] }])
  await postgres`UPDATE rollup_state SET considered_at = now() - interval '5 minutes'`
  assert.deepEqual(await rollUpRound({ postgres, clickhouse }, { now }), { sites: 1, days: 1, failed: 0 })
  for (const id of [one, other]) assert.deepEqual((await verifySite({ postgres, clickhouse }, id)).wrong, [])
})

test('a site that is deleted meanwhile leaves no rows, and the others are rolled up', async () => {
  const { postgres, clickhouse, create, together, covered } = await openSites()
  const [one, other] = [await create(hit('2026-03-14')), await create(hit('2026-03-14'))] as const
  const done = await together(
    [one, other],
    interrupted(clickhouse, async () => {
      await deleteSite(postgres, one)
      // Acts as if the erasure ended after the events were read and before the rows are written.
      await postgres`UPDATE deleted_sites SET erased_at = now() WHERE id = ${one}`
    }),
  )
  assert.deepEqual([...done.keys()], [other])
  await eraseRows({ postgres, clickhouse }) // as the next round does
  assert.deepEqual(await clickhouse.rows(sql`SELECT day FROM short_rollups WHERE site_id = ${text(one)}`), [])
  assert.deepEqual(await covered(other), [{ version: 1, layout: 2, days: [['2026-03-01', closed]], months: [] }])
})

test('when rolling up together fails or is given up, the round rolls up each site alone', async () => {
  const { postgres, clickhouse, create } = await openSites()
  const giveUp = async () => {
    await postgres`UPDATE rollup_runs SET alive_at = now() - interval '16 minutes'`
    await sweep({ postgres, clickhouse }, '0 seconds')
  }
  const fail = () => Promise.reject(new Error('out of memory'))
  for (const fault of [fail, giveUp]) {
    const ids = [await create(hit('2026-03-14')), await create(hit('2026-03-14'))]
    const through = interrupted(clickhouse, fault)
    const round = await rollUpRound({ postgres, clickhouse: through }, { now, minYearEvents: 1 })
    assert.deepEqual(round, { sites: 2, days: 28, failed: 0 })
    for (const id of ids) {
      const verdict = await verifySite({ postgres, clickhouse }, id)
      assert.deepEqual([verdict.days, verdict.wrong], [14, []])
    }
  }
})

test('writers of the same sites wait for each other and never end in a deadlock', async () => {
  const { postgres, clickhouse, create, together } = await openSites()
  const ids: string[] = []
  for (let nth = 0; nth < 6; nth++) ids.push(await create(hit('2026-03-13'), hit('2026-03-14')))
  const late = (siteId: string) => invalidateDays(postgres, [{ siteId, day: '2026-03-13' }])
  for (let round = 0; round < 3; round++)
    await Promise.all([together(ids), together(ids.toReversed()), ...ids.map(late), ...ids.toReversed().map(late)])
  await together(ids)
  assert.deepEqual((await verifySite({ postgres, clickhouse }, ids[0] as string)).wrong, [])
})
