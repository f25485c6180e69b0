import assert from 'node:assert/strict'
import test from 'node:test'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { install } from '../support/installation.ts'

// A million with FOOTFALL_FULL=1 (npm run check:rollup, every night); fewer in every other run.
const events = process.env.FOOTFALL_FULL ? 1_000_000 : 10_000

test(`${events.toLocaleString('en')} events: rollup, damage, verify finds it, rebuild repairs it`, {
  timeout: 1_800_000,
}, async (t) => {
  const { json, footfall, addresses, remove } = await install()
  t.after(remove)
  const clickhouse = openClickHouse(addresses.clickhouse)
  t.after(() => clickhouse.close())
  await json('site', 'create', 'large.example', '--timezone', 'Asia/Kathmandu')
  const { siteId } = await json('demo', 'large.example', '--events', String(events))
  assert.deepEqual(await json('rollup', 'status'), [])
  const rolledUp = await json('rollup', 'run', '--site', 'large.example')
  assert.equal(rolledUp.sites, 1)
  const [status] = await json('rollup', 'status')
  assert.deepEqual([status.domain, status.days, status.through], ['large.example', rolledUp.days, status.closed])
  const verify = async () => {
    const { code, stdout, stderr } = await footfall('rollup', 'verify', '--json')
    assert.match(stdout, /^\[/, stderr)
    assert.match(stderr, /Verifying large\.example: 100 % {2}[\d,]+ of [\d,]+ events/)
    const [{ wrong, missingDays, days }] = JSON.parse(stdout)
    return {
      code,
      wrong: wrong.map((one: { span: string; day: string }) => `${one.span} ${one.day}`),
      missingDays,
      days,
    }
  }
  assert.deepEqual(await verify(), { code: 0, wrong: [], missingDays: [], days: rolledUp.days })

  // Damages one number of one row, and deletes all rows of short lists of another day.
  const [row] = await clickhouse.rows<{ damaged: string; lost: string }>(sql`
    SELECT max(long_rollups.day) - 3 AS damaged, max(long_rollups.day) - 9 AS lost FROM long_rollups
    WHERE site_id = ${text(siteId)} AND startsWith(rollup_key, 'day ')`)
  const { damaged: day, lost: other } = row as { damaged: string; lost: string }
  await clickhouse.run(sql`
    INSERT INTO long_rollups (site_id, rollup_key, dimension, day, value, views)
    VALUES (${text(siteId)}, 'day 1 page 0 ', 'page', ${text(day)}, '/', -1)`)
  await clickhouse.run(sql`
    DELETE FROM short_rollups WHERE site_id = ${text(siteId)} AND startsWith(rollup_key, 'day ') AND day = toDate(${text(other)})`)
  const found = await verify()
  assert.equal(found.code, 1)
  assert.deepEqual(
    found.wrong.filter((name: string) => name.startsWith('day')),
    [`day ${other}`, `day ${day}`],
  )

  assert.equal((await json('rollup', 'rebuild')).days, rolledUp.days)
  assert.deepEqual(await verify(), { code: 0, wrong: [], missingDays: [], days: rolledUp.days })
})
