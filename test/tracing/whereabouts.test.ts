import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Places, type SpoolFinding, whereIs } from '../../src/tracing/whereabouts.ts'

const id = randomUUID()
const site = { timeZone: 'Pacific/Auckland', excludedCountries: [] }
const asked = { day: undefined, now: Date.parse('2026-03-15T12:00:00Z') }
const nothing: Places = { stored: async () => undefined, dropped: async () => undefined }
const inSpool = (state: SpoolFinding['state'], isWhole = true) => ({ ...nothing, spool: () => ({ state, isWhole }) })

test('the last 48 hours are looked at in the time zone of the site, with a day more on both sides', async () => {
  const { looked_at } = await whereIs(id, site, nothing, asked)
  assert.deepEqual(looked_at, { first_day: '2026-03-13', last_day: '2026-03-17', spool: 'none' })
})

test('what a disk says is told, and how much of it was looked at', async () => {
  for (const state of ['spooled', 'shipped', 'refused'] as const)
    assert.equal((await whereIs(id, site, inSpool(state), asked)).state, state)
  const whole = await whereIs(id, site, inSpool('nothing'), asked)
  assert.deepEqual([whole.state, whole.looked_at.spool], ['unknown', 'whole'])
  assert.match(whole.message, /Nor is it in the spool of this machine/)
  const newest = await whereIs(id, site, inSpool('nothing', false), asked)
  assert.equal(newest.looked_at.spool, 'newest')
  assert.match(newest.message, /it may wait in the spool of a collector/)
})

test('while ClickHouse is down, an event is found in the spool; nothing else can be said', async () => {
  const stored = () => Promise.reject(new Error('ClickHouse is down'))
  assert.equal((await whereIs(id, site, { ...inSpool('spooled'), stored }, asked)).state, 'spooled')
  await assert.rejects(whereIs(id, site, { ...inSpool('shipped'), stored }, asked), /is down/)
  await assert.rejects(whereIs(id, site, { ...nothing, stored }, asked), /is down/)
})
