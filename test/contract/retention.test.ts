// Retention refuses no date. When the previous window would end within a day whose events are deleted, it covers that whole day and
// the response says so (decision D-79).
import assert from 'node:assert/strict'
import test from 'node:test'
import { dropOldEvents } from '../../src/rollups/retention.ts'
import { pageview } from '../support/events.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'
import { makeWorld, startApi } from '../support/world.ts'
import { reportNames } from './vocabulary.ts'

const now = '2026-03-15T12:00:00Z'

test('a previous window that would end within a day without events covers that whole day and says so; no date is refused', async (t) => {
  const created = await createStores()
  const stores = connect(created.addresses)
  const world = await makeWorld(stores, { now })
  const fresh = await makeWorld(stores, { now })
  const api = await startApi(stores, { now: () => Date.parse(now) })
  t.after(async () => {
    await Promise.all([world.close(), fresh.close(), api.close()])
    await disconnect(stores)
    await created.remove()
  })
  await world.record(
    pageview({ at: '2024-01-10T10:00:00Z', visitor: 'a' }),
    pageview({ at: '2024-01-19T13:00:00Z', visitor: 'b' }),
    pageview({ at: '2024-02-01T10:00:00Z', visitor: 'c' }),
    pageview({ at: '2024-02-01T13:00:00Z', visitor: 'd' }),
  )
  await fresh.record(pageview({ at: '2026-03-10T10:00:00Z' }))
  await world.rollUp('2026-03-14')
  const ask = async (query: string, name = 'overview', key = world.key) => {
    const headers = { Authorization: `Bearer ${key.text}` }
    const answer = await api.fetch(`/api/v1/stats/${name}?range=custom&${query}`, { headers })
    assert.equal(answer.status, 200, answer.text)
    return {
      data: answer.json.data,
      previousEnd: answer.headers.get('stats-previous-period')?.split('/')[1],
      warning: answer.headers.get('stats-warning'),
    }
  }
  // The previous window ends at noon of 19 January, so the visit at one o'clock is not in it.
  const untilToday = 'start=2024-01-20&end=2026-03-15'
  const before = await ask(untilToday)
  assert.deepEqual(
    [before.data.previous.visitors, before.previousEnd, before.warning],
    [1, '2024-01-19T12:00:00+00:00', null],
  )

  const time = Date.parse(now)
  const readClocks = async () => ({ own: time, postgres: time, clickhouse: [time] })
  await dropOldEvents(stores, { months: 25, readClocks, patience: '0 seconds' })
  api.directory.forget(world.siteId)
  api.directory.forget(fresh.siteId)
  const after = await ask(untilToday)
  assert.deepEqual(
    [after.data.previous.visitors, after.previousEnd, after.warning],
    [
      2,
      '2024-01-20T00:00:00+00:00',
      'the previous period ends with all of 2024-01-19, because single events of that day are no longer kept',
    ],
  )
  assert.deepEqual(after.data.current, before.data.current)

  // Parts of days whose events still exist do not change, and neither do whole days.
  const kept = await ask('start=2024-02-02&end=2026-03-15')
  assert.deepEqual(
    [kept.data.previous.visitors, kept.previousEnd, kept.warning],
    [3, '2024-02-01T12:00:00+00:00', null],
  )
  const whole = await ask('start=2024-01-20&end=2026-03-14')
  assert.deepEqual(
    [whole.data.previous.visitors, whole.previousEnd, whole.warning],
    [2, '2024-01-20T00:00:00+00:00', null],
  )
  const all = await ask('start=2023-01-01&end=2026-03-15')
  assert.deepEqual([all.data.current.visitors, all.warning], [4, null])
  // Only overview has a previous window. A site without traffic at that time has lost nothing.
  for (const name of reportNames.filter((one) => one !== 'overview'))
    assert.equal((await ask(untilToday, name)).warning, null, name)
  const never = await ask(untilToday, 'overview', fresh.key)
  assert.deepEqual(
    [never.data.current.visitors, never.previousEnd, never.warning],
    [1, '2024-01-19T12:00:00+00:00', null],
  )
})
