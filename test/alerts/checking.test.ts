// Alerts of real sites in real stores: what is read, what is noted and who is told.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { replaceAlert, watchedAlerts } from '../../src/alerts/alerts.ts'
import { startAlerts } from '../../src/alerts/checking.ts'
import { createHours } from '../../src/alerts/hours.ts'
import { noteChange } from '../../src/alerts/telling.ts'
import { createLog } from '../../src/process/log.ts'
import { inTransaction } from '../../src/stores/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { openWatchedWorld, telling, type WatchedWorld, type WatchedWorldOptions } from './alerts-world.ts'

const open = (t: TestContext, options?: WatchedWorldOptions): Promise<WatchedWorld> =>
  openWatchedWorld((end) => t.after(end), options)

const typesOf = (messages: readonly { type: string }[]) => messages.map(({ type }) => type)

test('many: one mail and one webhook when it begins, one when it is over', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 50 })
  await world.visitors('2026-11-16T10:00:00Z', 50)
  await world.checkUntil('2026-11-16T10:00:00Z', '2026-11-16T10:59:00Z')
  assert.deepEqual(await world.mails(), [])
  await world.visitors('2026-11-16T11:00:00Z', 60)
  await world.visitors('2026-11-16T12:00:00Z', 40)
  await world.checkUntil('2026-11-16T11:00:00Z', '2026-11-16T11:50:00Z')
  await world.checkUntil('2026-11-16T11:51:00Z', '2026-11-16T13:01:00Z')
  assert.equal((await world.mails()).length, 1)
  await world.checkUntil('2026-11-16T13:02:00Z', '2026-11-16T13:30:00Z')
  const [began, over, ...more] = await world.mails()
  assert.deepEqual(more, [])
  assert.equal(began?.kind, 'alert')
  assert.equal(began?.subject, `${world.domain}: 51 visitors in an hour`)
  // One visitor comes in each minute from 11:00 on, so the 51st has come when the check of 11:51 looks.
  assert.match(
    began?.text ?? '',
    /More than 50 visitors in an hour\.\n\nSince 11:00, .* had 51 visitors\.\n\nIt began at 11:51 on 16 Nov \(UTC\)/,
  )
  assert.match(began?.text ?? '', /range=custom&start=2026-11-16&end=2026-11-16\n/)
  assert.match(began?.text ?? '', new RegExp(`https://stats.example/sites/${world.domain}/settings/alerts`))
  assert.match(
    over?.text ?? '',
    /From 12:00 to 13:00, .* had 40 visitors\.\n\nIt began at 11:51 .*, and was over at 13:02/,
  )
  const alert = (await world.one()).id
  const common = {
    alert,
    site: world.domain,
    kind: 'many',
    sentence: 'More than 50 visitors in an hour',
    began_at: '2026-11-16T11:51:00.000Z',
    url: `https://stats.example/sites/${world.domain}?range=custom&start=2026-11-16&end=2026-11-16`,
  }
  assert.deepEqual(await world.webhooks(), [
    { type: 'alert.began', ...common, hour: '2026-11-16T11:00:00.000Z', visitors: 51 },
    {
      type: 'alert.over',
      ...common,
      over_at: '2026-11-16T13:02:00.000Z',
      hour: '2026-11-16T12:00:00.000Z',
      visitors: 40,
    },
  ])
  const { isOn, beganAt, overAt } = await world.one()
  assert.deepEqual(
    [isOn, beganAt?.toISOString(), overAt?.toISOString()],
    [false, '2026-11-16T11:51:00.000Z', '2026-11-16T13:02:00.000Z'],
  )
})

test('a rise compares with the same hour on the clock, also if the clock has changed', async (t) => {
  const world = await open(t, { zone: 'Europe/Berlin' })
  // 10:00 in Berlin is 09:00 UTC in winter, and 08:00 UTC until 25 October.
  await world.alert({ kind: 'rise', threshold: 3, minUsual: 20 })
  await world.usual('2026-11-02T09:00:00Z', [20, 20, 20, 20])
  for (const day of ['05', '12', '19']) await world.visitors(`2026-10-${day}T09:00:00Z`, 200)
  await world.visitors('2026-11-02T09:00:00Z', 61, { at: '2026-11-02T09:20:00Z' })
  await world.checkUntil('2026-11-02T08:50:00Z', '2026-11-02T09:20:00Z')
  assert.deepEqual(await world.webhooks(), [])
  await world.check('2026-11-02T09:21:00Z')
  assert.deepEqual(
    (await world.webhooks()).map(({ type, usual, visitors }) => [type, usual, visitors]),
    [['alert.began', 20, 61]],
  )
})

test('a rise begins within the hour, and a drop two minutes after it', async (t) => {
  const world = await open(t, { zone: 'Asia/Kolkata' })
  const first = '2026-11-16T04:30:00Z'
  const second = '2026-11-16T05:30:00Z'
  await world.alert({ kind: 'rise', threshold: 3, minUsual: 20 })
  await world.alert({ kind: 'drop', threshold: 50, minUsual: 20 })
  await world.usual(first, [20, 20, 30, 20])
  await world.usual(second, [40, 40, 40, 0])
  await world.visitors(first, 61, { at: '2026-11-16T04:40:00Z' })
  await world.visitors(second, 19)
  await world.visitors('2026-11-16T06:30:00Z', 50)
  await world.checkUntil('2026-11-16T04:25:00Z', '2026-11-16T04:40:00Z')
  await world.checkUntil('2026-11-16T04:41:00Z', '2026-11-16T06:31:00Z')
  await world.checkUntil('2026-11-16T06:32:00Z', '2026-11-16T08:40:00Z')
  const told = (await world.webhooks()).map(({ type, kind, began_at, over_at, visitors, usual }) => [
    ...[type, kind, (over_at ?? began_at).slice(11, 16), visitors, usual],
  ])
  assert.deepEqual(told.toSorted(), [
    ['alert.began', 'drop', '06:32', 19, 40],
    ['alert.began', 'rise', '04:41', 61, 20],
    ['alert.over', 'rise', '06:32', 19, 40],
  ])
})

test('silence begins three hours after the last event and ends with the next; a missing event likewise', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'silence', threshold: 3, minUsual: 20 })
  await world.alert({ kind: 'missing', threshold: 2, minUsual: 10, event: 'Signup' })
  await world.alert({ kind: 'missing', threshold: 2, minUsual: 10, event: 'Never' })
  for (const hour of [8, 9, 10, 11, 12, 13, 14, 15, 16]) {
    const at = `2026-11-16T${String(hour).padStart(2, '0')}:00:00Z`
    await world.usual(at, [10, 10, 10, 10])
    await world.usual(at, [8, 8, 8, 8], { name: 'Signup', visitor: 'somebody' })
  }
  await world.visitors('2026-11-16T08:00:00Z', 1, { at: '2026-11-16T09:20:30Z', name: 'Signup' })
  await world.visitors('2026-11-16T08:00:00Z', 1, { at: '2026-11-16T10:40:00Z' })
  await world.visitors('2026-11-16T08:00:00Z', 1, { at: '2026-11-16T14:10:30Z', name: 'Signup' })
  await world.checkUntil('2026-11-16T08:00:00Z', '2026-11-16T11:20:00Z')
  await world.checkUntil('2026-11-16T11:21:00Z', '2026-11-16T13:39:00Z')
  await world.checkUntil('2026-11-16T13:40:00Z', '2026-11-16T14:10:00Z')
  await world.checkUntil('2026-11-16T14:11:00Z', '2026-11-16T14:30:00Z')
  const told = (await world.webhooks()).map(({ type, kind, began_at, over_at, since }) => [
    ...[type, kind, (over_at ?? began_at).slice(11, 16), since.slice(11, 19)],
  ])
  assert.deepEqual(told.toSorted(), [
    ['alert.began', 'missing', '11:21', '09:20:30'],
    ['alert.began', 'silence', '13:40', '10:40:00'],
    ['alert.over', 'missing', '14:11', '14:10:30'],
    ['alert.over', 'silence', '14:11', '14:10:30'],
  ])
})

test('excluded countries do not count', async (t) => {
  const world = await open(t, { excludedCountries: ['DE'] })
  await world.alert({ kind: 'many', threshold: 5 })
  await world.visitors('2026-11-16T10:00:00Z', 10, { country: 'DE' })
  await world.visitors('2026-11-16T10:10:00Z', 6, { country: 'FR' })
  await world.check('2026-11-16T10:15:00Z')
  assert.deepEqual(await world.webhooks(), [])
  await world.check('2026-11-16T10:16:00Z')
  assert.deepEqual(
    (await world.webhooks()).map(({ visitors }) => visitors),
    [6],
  )
})

test('what happens in quiet hours is told when they are over, if it still goes on', async (t) => {
  const world = await open(t, { zone: 'Europe/Berlin' })
  await world.alert({ kind: 'many', threshold: 10 }, { quiet: { from: 22, until: 7 }, mailTo: 'members' })
  // In Berlin: 01:00 to 02:00, and from 06:00 on.
  for (const at of ['2026-11-16T00:05:00Z', '2026-11-16T05:05:00Z', '2026-11-16T06:05:00Z'])
    await world.visitors(at, 11, { at })
  await world.checkUntil('2026-11-16T00:00:00Z', '2026-11-16T00:30:00Z')
  assert.deepEqual([(await world.one()).isOn, await world.webhooks()], [true, []])
  await world.checkUntil('2026-11-16T00:31:00Z', '2026-11-16T02:01:00Z')
  await world.checkUntil('2026-11-16T02:02:00Z', '2026-11-16T05:05:00Z')
  await world.checkUntil('2026-11-16T05:06:00Z', '2026-11-16T05:59:00Z')
  const { isOn, isTold, overAt } = await world.one()
  assert.deepEqual([isOn, isTold, overAt?.toISOString()], [true, false, '2026-11-16T02:02:00.000Z'])
  assert.deepEqual(await world.webhooks(), [])
  await world.check('2026-11-16T06:00:00Z')
  assert.deepEqual(
    (await world.webhooks()).map(({ type, began_at }) => [type, began_at]),
    [['alert.began', '2026-11-16T05:06:00.000Z']],
  )
  for (const person of [world.owner, world.viewer]) assert.equal((await world.mails(person)).length, 1)
})

test('two processes that find the same change note it once', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const { postgres } = world.stores
  const [alert] = await watchedAlerts(postgres, 1)
  assert.ok(alert)
  const now = Date.parse('2026-11-16T10:20:00Z')
  const change = { change: 'began', at: now, numbers: { hour: now, visitors: 6 } } as const
  const noted = await Promise.all(
    [1, 2, 3].map(() => noteChange(postgres, telling, alert, { change, now, localHour: 10 })),
  )
  assert.deepEqual(noted.toSorted(), [false, false, true])
  assert.deepEqual([(await world.mails()).length, typesOf(await world.webhooks())], [1, ['alert.began']])
})

test('what was judged by earlier settings is not noted', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const { postgres } = world.stores
  const [alert] = await watchedAlerts(postgres, 1)
  assert.ok(alert)
  const settings = { ...alert, condition: { kind: 'many', threshold: 500 } } as const
  assert.equal(await inTransaction(postgres, (one) => replaceAlert(one, world.siteId, alert.id, settings)), true)
  const now = Date.parse('2026-11-16T10:20:00Z')
  const change = { change: 'began', at: now, numbers: { visitors: 6 } } as const
  assert.equal(await noteChange(postgres, telling, alert, { change, now, localHour: 10 }), false)
  assert.deepEqual([(await world.one()).isOn, await world.mails()], [false, []])
})

test('a change whose message cannot be queued is not noted, and found again', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const { postgres } = world.stores
  await postgres`ALTER TABLE webhook_deliveries ADD CONSTRAINT broken CHECK (type <> 'alert.began')`
  await world.visitors('2026-11-16T10:00:00Z', 6)
  await assert.rejects(world.check('2026-11-16T10:20:00Z'), /broken/)
  assert.deepEqual([(await world.one()).isOn, await world.mails()], [false, []])
  await postgres`ALTER TABLE webhook_deliveries DROP CONSTRAINT broken`
  await world.check('2026-11-16T10:21:00Z')
  assert.deepEqual([(await world.one()).isOn, (await world.mails()).length], [true, 1])
})

test('after a restore, what may have been told before is in doubt', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const { postgres } = world.stores
  await postgres`UPDATE alerts SET created_at = '2026-11-01'`
  await postgres`UPDATE ledger SET began_at = '2026-11-16T10:30:00Z'`
  const [alert] = await watchedAlerts(postgres, 1)
  assert.ok(alert)
  const note = async (change: 'began' | 'over', at: string) => {
    const [found] = await watchedAlerts(postgres, 1)
    const instant = Date.parse(at)
    await noteChange(postgres, telling, found ?? alert, {
      change: { change, at: instant, numbers: { visitors: 6 } },
      now: instant,
      localHour: 10,
    })
  }
  const states = async () => {
    const mail = await postgres<{ state: string }[]>`SELECT state FROM outbox ORDER BY queued_at`
    const webhooks = await postgres<{ state: string }[]>`SELECT state FROM webhook_deliveries ORDER BY created_at`
    return [mail, webhooks].map((rows) => rows.map(({ state }) => state))
  }
  await note('began', '2026-11-16T10:29:00Z')
  assert.deepEqual(await states(), [['in doubt'], ['in doubt']])
  await note('over', '2026-11-16T10:31:00Z')
  assert.deepEqual(await states(), [
    ['in doubt', 'waiting'],
    ['in doubt', 'waiting'],
  ])
})

test('after an outage of Footfall, nothing that was missing is an alert; what is there is one', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'silence', threshold: 2, minUsual: 20 })
  await world.alert({ kind: 'drop', threshold: 50, minUsual: 20 })
  for (const hour of ['08', '09', '10', '11', '12']) await world.usual(`2026-11-16T${hour}:00:00Z`, [30, 30, 30, 30])
  await world.visitors('2026-11-16T08:00:00Z', 30)
  await world.check('2026-11-16T09:00:00Z')
  await world.checkUntil('2026-11-16T10:30:00Z', '2026-11-16T12:01:00Z')
  assert.deepEqual(await world.webhooks(), [])
  await world.checkUntil('2026-11-16T12:02:00Z', '2026-11-16T12:29:00Z')
  await world.check('2026-11-16T12:30:00Z')
  assert.deepEqual(
    (await world.webhooks()).map(({ kind, began_at }) => [kind, began_at]),
    [
      ['drop', '2026-11-16T12:02:00.000Z'],
      ['silence', '2026-11-16T12:30:00.000Z'],
    ],
  )
})

test('a site whose events are held back for a move is not judged', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const { postgres } = world.stores
  await postgres`INSERT INTO site_moves (site_id, from_shard, to_shard, hold) VALUES (${world.siteId}, 1, 1, 1)`
  assert.deepEqual(await watchedAlerts(postgres, 1), [])
  await postgres`UPDATE site_moves SET hold = NULL`
  assert.equal((await watchedAlerts(postgres, 1)).length, 1)
})

test('one statement reads all sites, and past days are read once', async (t) => {
  const world = await open(t)
  const at = Date.parse('2026-11-16T10:15:00Z')
  await world.usual('2026-11-16T10:00:00Z', [40, 20, 10, 0])
  await world.visitors('2026-11-16T10:00:00Z', 21)
  const { clickhouse } = world.stores
  const rowsRead: number[] = []
  const hours = createHours({
    async rows(statement, signal, limits) {
      const rows = await clickhouse.rows(statement, signal, limits)
      rowsRead.push(rows.length)
      return rows as never
    },
  })
  const site = {
    ...{ id: world.siteId, zone: 'UTC', excludedCountries: [], lastDayEvents: 0, needsUsual: true },
    waits: new Map([['', 3]]),
  }
  const stranger = { ...site, id: 'site_aaaaaaaaaaaaaaaa' }
  await hours.read([site, stranger], at)
  // Past days, the last event, and the last two hours.
  assert.deepEqual(rowsRead, [3])
  assert.deepEqual(hours.current(site, at), {
    start: Date.parse('2026-11-16T10:00:00Z'),
    visitors: 15,
    weeks: [40, 20, 10, 0],
  })
  assert.equal(hours.lastAt(site, ''), Date.parse('2026-11-16T10:14:00Z'))
  assert.equal(hours.current(stranger, at).visitors, 0)
  // A quarter of the hour that has begun.
  assert.deepEqual(hours.weeksOf(site, at, 3, ''), [10, 5, 2.5, 0])
  await hours.read([site, stranger], at + 60_000)
  assert.deepEqual(rowsRead, [3, 1])
  assert.equal(hours.current(site, at + 60_000).visitors, 16)
})

test('sites whose hours begin at other minutes are read together', async (t) => {
  const world = await open(t, { zone: 'Asia/Kolkata' })
  const at = Date.parse('2026-11-16T10:45:00Z')
  // In India an hour began at 10:30.
  await world.visitors('2026-11-16T10:00:00Z', 60)
  const kolkata = {
    ...{ id: world.siteId, zone: 'Asia/Kolkata', excludedCountries: [], lastDayEvents: 0, needsUsual: true },
    waits: new Map<string, number>(),
  }
  const others = ['a', 'b'].map((letter) => ({ ...kolkata, id: `site_${letter.repeat(16)}`, zone: 'UTC' }))
  const hours = createHours(world.stores.clickhouse)
  await hours.read([kolkata, ...others], at)
  assert.deepEqual([hours.current(kolkata, at).visitors, hours.whole(kolkata, at).visitors], [15, 30])
  await world.usual('2026-11-16T10:30:00Z', [7, 8, 9, 10])
  const fresh = createHours(world.stores.clickhouse)
  await fresh.read([...others, kolkata], at)
  assert.deepEqual(fresh.current(kolkata, at).weeks, [7, 8, 9, 10])
})

test('a past day that cannot be read does not stop the rest', async (t) => {
  const world = await open(t)
  const at = Date.parse('2026-11-16T10:20:00Z')
  await world.visitors('2026-11-16T10:00:00Z', 20)
  const { clickhouse } = world.stores
  const hours = createHours({
    async rows(statement, signal, limits) {
      if (JSON.stringify(statement).includes('2026-11-09')) throw new Error('too slow')
      return clickhouse.rows(statement, signal, limits)
    },
  })
  await world.usual('2026-11-16T10:00:00Z', [5, 20, 20, 20])
  const site = {
    ...{ id: world.siteId, zone: 'UTC', excludedCountries: [], lastDayEvents: 0, needsUsual: true },
    waits: new Map<string, number>(),
  }
  for (let times = 0; times < 9; times++) {
    await hours.read([site], at + times * 60_000)
    assert.equal(hours.current(site, at + times * 60_000).visitors, 20)
  }
  assert.deepEqual(hours.current(site, at + 8 * 60_000).weeks, [0, 20, 20, 20])
})

test('the loop judges by itself, and stops', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const now = Date.parse('2026-11-16T10:20:00Z')
  await world.visitors('2026-11-16T10:00:00Z', 20)
  const checked: [number, number][] = []
  const log = createLog('silent')
  const loop = startAlerts(world.stores, {
    ...telling,
    log,
    now: () => now,
    onChecked: (...one) => void checked.push(one),
  })
  await eventually(async () => assert.deepEqual(typesOf(await world.webhooks()), ['alert.began']))
  await eventually(async () => assert.deepEqual(checked[0], [1, now]))
  await loop.stop()
})

test('an address gets at most 60 mails about alerts an hour; webhooks go on', async (t) => {
  const world = await open(t)
  await world.alert({ kind: 'many', threshold: 5 })
  const { postgres } = world.stores
  await postgres`
    INSERT INTO outbox (id, kind, recipient, account_id)
    SELECT 'mail_' || translate(lpad(number::text, 16, 'z'), '0189', 'abcd'), 'alert', ${world.owner}, ${world.accountId}
    FROM generate_series(1, 60) AS number`
  const [alert] = await watchedAlerts(postgres, 1)
  assert.ok(alert)
  const now = Date.parse('2026-11-16T10:20:00Z')
  const change = { change: 'began', at: now, numbers: { visitors: 6 } } as const
  assert.equal(await noteChange(postgres, telling, alert, { change, now, localHour: 10 }), true)
  const [{ mails }] = await postgres<[{ mails: number }]>`SELECT count(*)::int AS mails FROM outbox`
  assert.deepEqual([mails, typesOf(await world.webhooks())], [60, ['alert.began']])
})
