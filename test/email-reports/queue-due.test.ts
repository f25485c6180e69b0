// Every report is queued exactly once when it becomes due, whatever processes, zones and hours do (decision D-219). PostgreSQL's clock is the
// clock, so tests choose weeks and hours around it, and move what a subscription remembers.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, setTimeZone } from '../../src/accounts/sites.ts'
import { queueDueReports } from '../../src/email-reports/queue-due.ts'
import { changeSchedule, createSubscription, deleteSubscription } from '../../src/email-reports/subscriptions.ts'
import { atEnd } from '../support/at-end.ts'
import { freshStores, patientPostgres } from '../support/fresh-stores.ts'
import type { Stores } from '../support/stores.ts'

let stores: Stores
let today: Temporal.PlainDate

before(async () => {
  stores = await freshStores(atEnd)
  const [{ now }] = await stores.postgres<[{ now: Date }]>`SELECT now()`
  today = Temporal.Instant.from(now.toISOString()).toZonedDateTimeISO('UTC').toPlainDate()
})

const mondayOf = (date: Temporal.PlainDate) => date.subtract({ days: date.dayOfWeek - 1 })

/** The first day of the week that lies this many weeks before the current one. */
const weekBefore = (weeks: number): string => mondayOf(today).subtract({ weeks }).toString()

interface Made {
  id: string
  accountId: string
  siteId: string
  email: string
}

interface Given {
  /** The first day of the period that is reported next. */
  next: string
  interval?: 'week' | 'month'
  /** Without it: 0, so that the report of last week is due at any time of this week. */
  hour?: number
  zone?: string
  siteZone?: string
}

/** A confirmed subscription that has waited since its next period. */
async function subscribe({ next, interval = 'week', hour = 0, zone = 'UTC', siteZone = 'UTC' }: Given): Promise<Made> {
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: 'Main', plan: 'Growth' })
  const siteId = await createSite(postgres, { accountId, domain: `${randomUUID()}.example`, timeZone: siteZone })
  const email = `${randomUUID()}@example.com`
  const id = (await createSubscription(postgres, {
    ...{ accountId, siteId, email, userId: null, interval, hour, timeZone: zone, createdBy: 'a test' },
  })) as string
  await postgres`UPDATE report_subscriptions SET confirmed_at = now() WHERE id = ${id}`
  await remember(id, next)
  return { id, accountId, siteId, email }
}

const remember = (id: string, next: string) => stores.postgres`
  UPDATE report_subscriptions SET next_period = ${next}::text::date, look_at = '2020-01-01' WHERE id = ${id}`

/** The first days of its reports in the outbox, with their states, in the order of their days. */
async function queued({ id }: Made): Promise<[period: string, state: string][]> {
  const rows = await stores.postgres<{ period: string; state: string }[]>`
    SELECT period::text, state FROM outbox WHERE subscription_id = ${id} ORDER BY period`
  return rows.map(({ period, state }) => [period, state])
}

const periodsOf = async (made: Made): Promise<string[]> => (await queued(made)).map(([period]) => period)

async function nextOf({ id }: Made): Promise<{ period: string; lookAt: Date }> {
  const [row] = await stores.postgres<{ period: string; lookAt: Date }[]>`
    SELECT next_period::text AS period, look_at AS "lookAt" FROM report_subscriptions WHERE id = ${id}`
  return row as { period: string; lookAt: Date }
}

test('several processes at once queue each report exactly once', async (t) => {
  const many: Made[] = []
  for (let count = 0; count < 30; count++) many.push(await subscribe({ next: weekBefore(3) }))
  const connections = Array.from({ length: 4 }, () => patientPostgres(stores.addresses.postgres))
  t.after(() => Promise.all(connections.map((connection) => connection.end())))
  const counts = await Promise.all(
    [...connections, ...connections, ...connections].map((connection) => queueDueReports(connection)),
  )
  for (const made of many) assert.deepEqual(await periodsOf(made), [3, 2, 1].map(weekBefore))
  const sum = counts.reduce((one, other) => one + other)
  assert.equal(sum, 90)
})

test('a server that was down for weeks queues every week, the oldest first, and waits for the next', async () => {
  const made = await subscribe({ next: weekBefore(6) })
  await queueDueReports(stores.postgres)
  assert.deepEqual(await periodsOf(made), [6, 5, 4, 3, 2, 1].map(weekBefore))
  const { period, lookAt } = await nextOf(made)
  assert.equal(period, weekBefore(0))
  assert.equal(lookAt.toISOString(), `${mondayOf(today).add({ weeks: 1 })}T00:00:00.000Z`)
  assert.equal(await queueDueReports(stores.postgres), 0)
})

test('months have their own days', async () => {
  const first = today.with({ day: 1 })
  const made = await subscribe({ next: first.subtract({ months: 3 }).toString(), interval: 'month' })
  await queueDueReports(stores.postgres)
  const expected = [3, 2, 1].map((months) => first.subtract({ months }).toString())
  assert.deepEqual(await periodsOf(made), expected)
})

test('a report waits until its hour, and is looked at again at that moment', async () => {
  // Nobody is there yet: the current week ends in the future everywhere.
  const made = await subscribe({ next: weekBefore(0), hour: 17, zone: 'Asia/Kathmandu', siteZone: 'UTC' })
  await queueDueReports(stores.postgres)
  assert.deepEqual(await queued(made), [])
  // Monday 0:00 UTC is 5:45 in Kathmandu, so 17:00 there is 11:15 UTC.
  const { period, lookAt } = await nextOf(made)
  assert.deepEqual(
    [period, lookAt.toISOString()],
    [weekBefore(0), `${mondayOf(today).add({ weeks: 1 })}T11:15:00.000Z`],
  )
})

test('changes of hour and zones, of recipient and site, neither repeat nor skip a report', async () => {
  const made = await subscribe({ next: weekBefore(3) })
  await queueDueReports(stores.postgres)
  const all = [3, 2, 1].map(weekBefore)
  assert.deepEqual(await periodsOf(made), all)
  // Each change makes the due moment of the reports that are queued already lie earlier or later.
  const changes = [
    () => changeSchedule(stores.postgres, made.id, { hour: 23, timeZone: 'Pacific/Pago_Pago' }),
    () => changeSchedule(stores.postgres, made.id, { hour: 0, timeZone: 'Pacific/Kiritimati' }),
    // With any other hour, the current week of a site that is ahead would be due on its Sunday.
    () => changeSchedule(stores.postgres, made.id, { hour: 5, timeZone: 'UTC' }),
    () => setTimeZone(stores.postgres, made.siteId, 'Pacific/Kiritimati'),
    () => setTimeZone(stores.postgres, made.siteId, 'Pacific/Pago_Pago'),
    () => changeSchedule(stores.postgres, made.id, { hour: 12, timeZone: 'Europe/Berlin' }),
  ]
  for (const change of changes) {
    await change()
    await queueDueReports(stores.postgres)
    assert.deepEqual(await periodsOf(made), all)
    assert.equal((await nextOf(made)).period, weekBefore(0))
  }
})

test('a change brings a report that is due by now, at once and once', async () => {
  const made = await subscribe({ next: weekBefore(2) })
  const { postgres } = stores
  // As after a look at a time when it was due tomorrow.
  await postgres`UPDATE report_subscriptions SET look_at = now() + interval '1 day' WHERE id = ${made.id}`
  await queueDueReports(postgres)
  assert.deepEqual(await queued(made), [])
  await setTimeZone(postgres, made.siteId, 'Pacific/Kiritimati')
  await queueDueReports(postgres)
  assert.deepEqual(await periodsOf(made), [weekBefore(2), weekBefore(1)])
  await postgres`UPDATE report_subscriptions SET look_at = now() + interval '1 day' WHERE id = ${made.id}`
  await changeSchedule(postgres, made.id, { hour: 1, timeZone: 'UTC' })
  await queueDueReports(postgres)
  assert.deepEqual(await periodsOf(made), [weekBefore(2), weekBefore(1)])
})

test('a report that an older copy of the database queues again is in the outbox once', async () => {
  const made = await subscribe({ next: weekBefore(2) })
  await queueDueReports(stores.postgres)
  await remember(made.id, weekBefore(2))
  await queueDueReports(stores.postgres)
  assert.deepEqual(await periodsOf(made), [weekBefore(2), weekBefore(1)])
})

test('what was due before the last restore is in doubt, and what is due since waits', async (t) => {
  const { postgres } = stores
  const [{ before: beganBefore }] = await postgres<[{ before: Date }]>`SELECT began_at AS before FROM ledger`
  t.after(() => postgres`UPDATE ledger SET began_at = ${beganBefore}`)
  // The report of a week is due when the next one begins.
  await postgres`UPDATE ledger SET began_at = ${weekBefore(1)}::text::timestamp AT TIME ZONE 'UTC' + interval '1 second'`
  const made = await subscribe({ next: weekBefore(3) })
  await queueDueReports(postgres)
  assert.deepEqual(await queued(made), [
    [weekBefore(3), 'in doubt'],
    [weekBefore(2), 'in doubt'],
    [weekBefore(1), 'waiting'],
  ])
  const [row] = await postgres<{ problem: string }[]>`
    SELECT problem FROM outbox WHERE subscription_id = ${made.id} AND state = 'in doubt' LIMIT 1`
  assert.match(row?.problem ?? '', /before the database was restored/)
})

test('an address that has not confirmed gets nothing, and one that has ended neither', async () => {
  const { postgres } = stores
  const [waiting, ended] = [await subscribe({ next: weekBefore(2) }), await subscribe({ next: weekBefore(2) })]
  await postgres`UPDATE report_subscriptions SET confirmed_at = NULL WHERE id = ${waiting.id}`
  await queueDueReports(postgres)
  assert.deepEqual(await queued(waiting), [])
  assert.deepEqual(await periodsOf(ended), [weekBefore(2), weekBefore(1)])
  assert.equal(await deleteSubscription(postgres, ended.id), true)
  assert.deepEqual(await queued(ended), [])
  await queueDueReports(postgres)
  assert.deepEqual(await queued(ended), [])
})

test('whoever ends a report while it is queued gets none of it', async () => {
  const many = []
  for (let count = 0; count < 20; count++) many.push(await subscribe({ next: weekBefore(4) }))
  await Promise.all([
    queueDueReports(stores.postgres),
    queueDueReports(stores.postgres),
    ...many.map(({ id }) => deleteSubscription(stores.postgres, id)),
  ])
  for (const made of many) assert.deepEqual(await queued(made), [])
})

test('one report about all sites is due when the last of them has reached Monday', async () => {
  const { postgres } = stores
  const made = await subscribe({ next: weekBefore(0) })
  await postgres`UPDATE report_subscriptions SET site_id = NULL WHERE id = ${made.id}`
  await queueDueReports(postgres)
  const monday = mondayOf(today).add({ weeks: 1 })
  assert.equal((await nextOf(made)).lookAt.toISOString(), `${monday}T00:00:00.000Z`)
  // A site that comes is eleven hours behind: 0:00 there is 11:00 UTC, and the next 0:00 of the recipient is on Tuesday.
  await createSite(postgres, {
    accountId: made.accountId,
    domain: `${randomUUID()}.example`,
    timeZone: 'Pacific/Pago_Pago',
  })
  await queueDueReports(postgres)
  assert.equal((await nextOf(made)).lookAt.toISOString(), `${monday.add({ days: 1 })}T00:00:00.000Z`)
})
