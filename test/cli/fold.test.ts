import assert from 'node:assert/strict'
import test from 'node:test'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { install } from './installation.ts'

// A million with FOOTFALL_FULL=1 (npm run check:fold, and in CI); fewer in every other run.
const events = process.env.FOOTFALL_FULL ? 1_000_000 : 60_000

test(`${events.toLocaleString('en')} events: folded, damaged, found by verify, healed by rebuild`, async (t) => {
  const { json, footfall, addresses, remove } = await install()
  t.after(remove)
  const clickhouse = openClickHouse(addresses.clickhouse)
  t.after(() => clickhouse.close())
  await json('site', 'create', 'large.example', '--timezone', 'Asia/Kathmandu')
  const { siteId } = await json('demo', 'large.example', '--events', String(events))
  assert.deepEqual(await json('fold', 'status'), [])
  const folded = await json('fold', 'run', '--site', 'large.example')
  assert.equal(folded.sites, 1)
  const [status] = await json('fold', 'status')
  assert.deepEqual([status.domain, status.days, status.through], ['large.example', folded.days, status.closed])
  const verify = async () => {
    const { code, stdout, stderr } = await footfall('fold', 'verify', '--json')
    assert.match(stdout, /^\[/, stderr)
    const [{ wrong, unfolded, days }] = JSON.parse(stdout)
    return { code, wrong: wrong.map((one: { span: string; day: string }) => `${one.span} ${one.day}`), unfolded, days }
  }
  assert.deepEqual(await verify(), { code: 0, wrong: [], unfolded: [], days: folded.days })

  // One number of one row, and every short list of another day.
  const [row] = await clickhouse.rows<{ damaged: string; lost: string }>(sql`
    SELECT max(long_tallies.day) - 3 AS damaged, max(long_tallies.day) - 9 AS lost FROM long_tallies
    WHERE site_id = ${text(siteId)} AND startsWith(place, 'day ')`)
  const { damaged: day, lost: other } = row as { damaged: string; lost: string }
  await clickhouse.run(sql`
    INSERT INTO long_tallies (site_id, place, day, value, views)
    VALUES (${text(siteId)}, 'day 1 page 0', ${text(day)}, '/', -1)`)
  await clickhouse.run(sql`
    DELETE FROM short_tallies WHERE site_id = ${text(siteId)} AND startsWith(place, 'day ') AND day = toDate(${text(other)})`)
  const found = await verify()
  assert.equal(found.code, 1)
  assert.deepEqual(
    found.wrong.filter((name: string) => name.startsWith('day')),
    [`day ${other}`, `day ${day}`],
  )

  assert.equal((await json('fold', 'rebuild')).days, folded.days)
  assert.deepEqual(await verify(), { code: 0, wrong: [], unfolded: [], days: folded.days })
})
