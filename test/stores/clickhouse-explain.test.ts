import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApiProcess } from '../support/api-process.ts'
import { pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openWorld } from '../support/world.ts'

interface Line {
  msg: string
  statement: string
  parameters: Record<string, unknown>
  plan: string
  milliseconds: number
  rowsRead: number
  bytesRead: number
}

test('with FOOTFALL_EXPLAIN=1 every statement is logged with its parameters, plan, time and rows read', async (t) => {
  const world = await openWorld(t)
  const now = new Date().toISOString()
  await world.record(
    pageview({ at: now, pathname: '/a', title: 'A', country: 'DE' }),
    pageview({ at: now, pathname: '/b' }),
  )
  const api = await startApiProcess(world.stores.addresses, { FOOTFALL_EXPLAIN: '1' })
  t.after(() => api.kill())
  const headers = { Authorization: `Bearer ${world.key.text}` }
  const answer = await fetch(`${api.url}/api/v1/stats/pages?range=7d&country=de`, { headers })
  assert.equal(answer.status, 200, await answer.text())

  const lines = await eventually(async () => {
    // The API also asks once whether the databases are of the same moment.
    const found = linesOf(api.log()).filter(({ statement }) => !/\bFROM ledger\b/.test(statement))
    assert.equal(found.length, 2, 'pages reads the rows, and then their titles')
    return found
  })
  for (const line of lines) {
    assert.ok(Object.values(line.parameters).includes(world.siteId), 'the site is a parameter')
    assert.match(line.plan, /ReadFromMergeTree.*\n(.*\n)* *Granules: \d+\/\d+/)
    assert.ok(line.milliseconds > 0 && line.milliseconds < 5_000, `${line.milliseconds}`)
    assert.ok(line.bytesRead > 0)
  }
  const [rows, titles] = lines.toSorted((one, other) => one.statement.length - other.statement.length).toReversed()
  assert.match(rows?.statement ?? '', /^SELECT value AS pathname.*\n(.*\n)* *FROM events\n/)
  assert.ok(Object.values(rows?.parameters ?? {}).includes('DE'))
  assert.ok((rows?.rowsRead ?? 0) >= 2)
  assert.match(titles?.statement ?? '', /^SELECT pathname.*\nFROM titles\n/)
})

test('a failed statement is logged too, and nothing is logged without the setting', async (t) => {
  const world = await openWorld(t)
  const headers = { Authorization: `Bearer ${world.key.text}` }
  // Enough memory for a health check, too little to read a table.
  const poor = { ...world.stores.addresses, clickhouse: `${world.stores.addresses.clickhouse}?ch_max_rows_to_read=1` }
  await world.record(...['/a', '/b'].map((pathname) => pageview({ at: new Date().toISOString(), pathname })))
  const [explaining, silent] = [await startApiProcess(poor, { FOOTFALL_EXPLAIN: '1' }), await startApiProcess(poor)]
  t.after(() => Promise.all([explaining.kill(), silent.kill()]))
  for (const { url } of [explaining, silent]) {
    assert.equal((await fetch(`${url}/api/v1/stats/utm`, { headers })).status, 500)
  }
  await eventually(async () =>
    assert.match(explaining.log(), /"statement":"SELECT value AS name.*ClickHouse query failed/),
  )
  assert.doesNotMatch(silent.log(), /SELECT/)
})

const linesOf = (log: string): Line[] =>
  log
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'ClickHouse')
