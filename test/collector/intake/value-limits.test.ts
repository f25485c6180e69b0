// Which values are recorded as (other), step by step (decision D-155).
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as pause } from 'node:timers/promises'
import { createHashSet } from '../../../src/collector/intake/hash-set.ts'
import {
  type EarlierValue,
  type LimitedColumn,
  limitedColumns,
  openValueLimiter,
  type ValueLimiterOptions,
} from '../../../src/collector/intake/value-limits.ts'

const one = { maxEarlier: 10, maxNew: 2 }
const limits = Object.fromEntries(limitedColumns.map((column) => [column, one])) as Record<LimitedColumn, typeof one>
const day = '2026-11-15'

function open(t: TestContext, options: Partial<ValueLimiterOptions> = {}) {
  const replaced: LimitedColumn[] = []
  const limiter = openValueLimiter({
    limits,
    limitedFrom: 3,
    now: () => Date.parse(`${day}T12:00:00Z`),
    readEarlier: async () => [],
    onReplaced: (column) => replaced.push(column),
    onUnread: () => {},
    ...options,
  })
  t.after(() => limiter.close())
  return { limiter, replaced }
}

/** Waits until the earlier values are read: each of the eleven lists waits behind hits. */
async function untilRead(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await pause()
}

/** Sends enough events that the site is limited and its earlier values are read. */
async function limitSite(limiter: ReturnType<typeof openValueLimiter>, siteId: string, on = day) {
  for (let event = 0; event < 2; event++) assert.equal(limiter.ofEvent(siteId, on), undefined)
  const limited = limiter.ofEvent(siteId, on)
  assert.ok(limited)
  await untilRead()
  return limited
}

const earlier = (...values: string[]): EarlierValue[] => values.map((value) => ({ value, isNew: false }))

test('a set of hashes contains what was added and nothing else', () => {
  const set = createHashSet()
  const texts = Array.from({ length: 50_000 }, (_, number) => `/page/${number}`)
  for (const text of texts) assert.equal(set.add(text), true)
  for (const text of texts) assert.equal(set.add(text), false)
  assert.equal(set.size(), texts.length)
  assert.ok(texts.every((text) => set.has(text)))
  assert.ok(!texts.some((text) => set.has(`${text}x`)))
})

test('nothing is limited while a site has few events today', (t) => {
  const { limiter } = open(t, {
    readEarlier: async () => {
      throw new Error('asked')
    },
  })
  for (const siteId of ['a', 'b']) {
    for (let event = 0; event < 2; event++) assert.equal(limiter.ofEvent(siteId, day), undefined)
  }
})

test('earlier values keep their names, new ones only up to the limit of the day, separately for each column', async (t) => {
  const { limiter, replaced } = open(t, { readEarlier: async () => earlier('/old', '/older') })
  const limited = await limitSite(limiter, 'a')
  assert.equal(limited.nameOf('path', '/new'), '/new')
  assert.equal(limited.nameOf('path', '/newer'), '/newer')
  for (const path of ['/newest', '/(other)', '/more']) assert.equal(limited.nameOf('path', path), '(other)')
  for (const path of ['/old', '/older', '/new', '/newer']) assert.equal(limited.nameOf('path', path), path)
  assert.equal(limited.nameOf('event', 'Sign up'), 'Sign up')
  assert.equal(limited.nameOf('referrer', ''), '')
  assert.deepEqual(replaced, ['path', 'path', 'path'])
})

test('values that were new earlier today count too: a restart does not reset the day', async (t) => {
  const today: EarlierValue[] = [...earlier('/old'), { value: '/first', isNew: true }]
  const { limiter } = open(t, { readEarlier: async () => today })
  const limited = await limitSite(limiter, 'a')
  assert.equal(limited.nameOf('path', '/second'), '/second')
  assert.equal(limited.nameOf('path', '/third'), '(other)')
  assert.equal(limited.nameOf('path', '/first'), '/first')
})

test('a long value counts as several, one per 100 characters', async (t) => {
  const { limiter } = open(t)
  const limited = await limitSite(limiter, 'a')
  assert.equal(limited.nameOf('path', 'x'.repeat(201)), '(other)')
  assert.equal(limited.nameOf('path', 'x'.repeat(101)), 'x'.repeat(101))
  assert.equal(limited.nameOf('path', 'y'), '(other)')
  assert.equal(limited.nameOf('source', 'x'.repeat(100)), 'x'.repeat(100))
  assert.equal(limited.nameOf('source', 'y'), 'y')
})

test('until the earlier values are read, twice as many new ones are allowed; a failed read is retried half a minute later', async (t) => {
  const clock = { at: Date.parse(`${day}T12:00:00Z`) }
  let asked = 0
  const { limiter } = open(t, {
    now: () => clock.at,
    readEarlier: async () => {
      asked++
      if (asked === 1) throw new Error('ClickHouse is down')
      return earlier('/old')
    },
  })
  const limited = await limitSite(limiter, 'a')
  for (const path of ['/1', '/2', '/3', '/4']) assert.equal(limited.nameOf('path', path), path)
  assert.equal(limited.nameOf('path', '/old'), '(other)')
  clock.at += 29_999
  limiter.ofEvent('a', day)
  await untilRead()
  assert.equal(asked, 1)
  clock.at += 1
  assert.equal(limiter.ofEvent('a', day), limited)
  await untilRead()
  for (const path of ['/old', '/5', '/6']) assert.equal(limited.nameOf('path', path), path)
  assert.equal(limited.nameOf('path', '/7'), '(other)')
})

test('a new day starts from zero, and a late event for yesterday changes nothing', async (t) => {
  const { limiter } = open(t)
  const limited = await limitSite(limiter, 'a')
  for (const path of ['/1', '/2']) limited.nameOf('path', path)
  const next = await limitSite(limiter, 'a', '2026-11-16')
  assert.equal(next.nameOf('path', '/3'), '/3')
  assert.equal(limiter.ofEvent('a', day), undefined)
  assert.equal(limiter.ofEvent('a', '2026-11-16'), next)
})

test('a day that is over in every zone is forgotten', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = { at: Date.parse(`${day}T12:00:00Z`) }
  const { limiter } = open(t, { now: () => clock.at })
  limiter.ofEvent('a', day)
  const sitesAt = (time: string) => {
    clock.at = Date.parse(time)
    t.mock.timers.tick(600_000)
    return limiter.size().sites
  }
  assert.equal(sitesAt('2026-11-16T11:59:59Z'), 1)
  assert.equal(sitesAt('2026-11-16T12:00:00Z'), 0)
})

test('memory for values is limited: the site without events for the longest time is dropped', async (t) => {
  const { limiter } = open(t, { maxValues: 264, readEarlier: async () => earlier(...'abcdefgh') })
  const limited: Record<string, unknown> = {}
  for (const siteId of ['a', 'b']) limited[siteId] = await limitSite(limiter, siteId) // 88 values each
  assert.equal(limiter.ofEvent('a', day), limited.a)
  limited.c = await limitSite(limiter, 'c')
  assert.equal(limiter.ofEvent('a', day), limited.a)
  assert.deepEqual(limiter.size(), { sites: 3, values: 264 })
  limited.d = await limitSite(limiter, 'd')
  assert.equal(limiter.size().values, 264)
  assert.equal(limiter.ofEvent('a', day), limited.a)
  assert.equal(limiter.ofEvent('b', day), undefined)
})

test('properties count as much as events, and keys have one limit for all days', async (t) => {
  const keys = { maxEarlier: 3, maxNew: 3, isForAllDays: true } as const
  const { limiter } = open(t, {
    limitedFrom: 5,
    limits: { ...limits, property_key: keys },
    readEarlier: async (_siteId, _day, column) => (column === 'property_key' ? earlier('plan', 'size') : []),
  })
  assert.equal(limiter.ofEvent('a', day, 3), undefined)
  const limited = limiter.ofEvent('a', day)
  assert.ok(limited, 'two events with three properties')
  await untilRead()
  const nameOf = (key: string) => limited.nameOf('property_key', key)
  assert.deepEqual(['plan', 'size', 'color', 'shape', 'plan'].map(nameOf), ['plan', 'size', 'color', '(other)', 'plan'])
})
