// A list of more rows than CSV may have: the answer has as many as it may, in order, and says that there are more.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { limits } from '../../../src/stats/questions/parameters.ts'
import { sql, text, uint } from '../../../src/stores/clickhouse-sql.ts'
import { openWorld } from '../../support/world.ts'
import { noon, refused } from '../vocabulary.ts'

const rows = limits.csv + 345

/** One visitor for each page. One statement, because as many hits one by one would take half a minute. */
async function openLong(t: TestContext, tail: string) {
  const world = await openWorld(t, { now: noon })
  const day = noon.slice(0, 10)
  await world.stores.clickhouse.run(sql`
    INSERT INTO events (site_id, day, time, event_id, visitor_id, session_id, name, hostname, pathname, country, device, channel)
    SELECT ${text(world.siteId)}, ${text(day)}, toDateTime64(${text(`${day} 08:00:00`)}, 3, 'UTC'), number, number, number, 'pageview',
      'example.com', concat('/', leftPad(toString(number), 6, '0'), ${text(tail)}), 'DE', 'Desktop', 'Direct'
    FROM numbers(${uint(rows)})`)
  return (query: string, accept: string) =>
    world.ask('breakdown', `range=7d&by=page&${query}`, { headers: { Accept: accept } })
}

test('CSV has up to 100,000 rows, and says how many there are', async (t) => {
  const ask = await openLong(t, '')
  const { status, text, headers } = await ask('limit=100000', 'text/csv')
  assert.equal(status, 200, text.slice(0, 300))
  const lines = text.trimEnd().split('\r\n')
  assert.deepEqual(lines.slice(0, 3), ['page,visitors,pageviews', '/000000,1,1', '/000001,1,1'])
  assert.deepEqual([lines.length, lines.at(-1)], [limits.csv + 1, '/099999,1,1'])
  assert.equal(headers.get('stats-total-rows'), `${rows}`)
  assert.equal(headers.get('stats-warning'), `the list has ${rows} rows, more than limit`)
  refused(await ask('limit=100001', 'text/csv'), 400, 'invalid_parameter')
  refused(await ask('limit=1001', 'application/json'), 400, 'invalid_parameter')
})

test('an answer of more text than a process should hold is refused before it is sent', async (t) => {
  const ask = await openLong(t, 'x'.repeat(400))
  // Less than the limit. ClickHouse counts whole blocks of 65,409 rows, so 70,000 rows may count as all of them.
  assert.equal((await ask('limit=60000', 'text/csv')).status, 200)
  const answer = await ask('limit=100000', 'text/csv')
  refused(answer, 400, 'query_too_expensive')
  assert.match(answer.json.error.message, /limit/)
})
