// A question that needs a part of a day whose events were dropped is refused, never answered with less (decision D-79).
import assert from 'node:assert/strict'
import test from 'node:test'
import { dropOldEvents } from '../../src/folding/retention.ts'
import { pageview } from '../support/events.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'
import { makeWorld, startApi } from '../support/world.ts'
import { reportNames } from './vocabulary.ts'

const now = '2026-03-15T12:00:00Z'

test('parts of days are asked from the first day that is kept; whole days and what never was are answered', async (t) => {
  const created = await createStores()
  const stores = connect(created.addresses)
  const world = await makeWorld(stores, { now })
  const fresh = await makeWorld(stores, { now })
  // One that gives answers again, as a process does.
  const api = await startApi(stores, { now: () => Date.parse(now), answerBytes: 1e6 })
  t.after(async () => {
    await Promise.all([world.close(), fresh.close(), api.close()])
    await disconnect(stores)
    await created.remove()
  })
  await world.record(
    pageview({ at: '2024-01-10T10:00:00Z', visitor: 'a' }),
    pageview({ at: '2024-01-19T13:00:00Z', visitor: 'b' }),
    pageview({ at: '2024-02-01T10:00:00Z', visitor: 'c' }),
  )
  await fresh.record(pageview({ at: '2026-03-10T10:00:00Z' }))
  await world.fold('2026-03-14')
  const ask = async (query: string, name = 'overview', key = world.key) => {
    const headers = { Authorization: `Bearer ${key.text}` }
    const { status, json } = await api.fetch(`/api/v1/stats/${name}?range=custom&${query}`, { headers })
    return status === 200 ? json.data : [status, json.error.code, json.error.message]
  }
  // The window before it ends at noon of the 19th of January: the visit at one o'clock is not in it.
  const untilToday = 'start=2024-01-20&end=2026-03-15'
  assert.equal((await ask(untilToday)).previous.visitors, 1)

  const time = Date.parse(now)
  const readClocks = async () => ({ own: time, postgres: time, clickhouse: time })
  await dropOldEvents(stores, { months: 25, readClocks, patience: '0 seconds' })
  const refusal = [
    400,
    'invalid_date',
    'A part of 2024-01-19 would be needed, and parts of days can be asked from 2024-02-01 on: let start be after 2024-02-01, or end before today.',
  ]
  const began = performance.now()
  while ((await ask(untilToday))[0] !== 400) assert.ok(performance.now() - began < 5_000, 'it is answered still')
  assert.deepEqual(await ask(untilToday), refusal)

  // As the message says.
  assert.equal((await ask('start=2024-02-02&end=2026-03-15')).previous.visitors, 2 + 1)
  assert.equal((await ask('start=2024-01-20&end=2026-03-14')).previous.visitors, 2)
  assert.equal((await ask('start=2023-01-01&end=2026-03-15')).current.visitors, 3)
  // Only the overview has a window before; and a site that had nothing then has lost nothing.
  for (const name of reportNames.filter((one) => one !== 'overview'))
    assert.notEqual((await ask(untilToday, name))[0], 400, name)
  assert.equal((await ask(untilToday, 'overview', fresh.key)).current.visitors, 1)
})
