// Sites with alerts in databases of their own, and a clock that the test moves: every check sees the events that are there by then.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import type { AlertSettings, Condition } from '../../src/alerts/alert.ts'
import { type Alert, alertsOf, createAlert } from '../../src/alerts/alerts.ts'
import { checkIfDue } from '../../src/alerts/checking.ts'
import { createHours } from '../../src/alerts/hours.ts'
import type { Telling } from '../../src/alerts/telling.ts'
import { inTransaction } from '../../src/stores/postgres.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addMember, type Role } from '../../src/users/members.ts'
import { createUser } from '../../src/users/users.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { type Mail, mailsTo } from '../support/mails.ts'
import { keySecrets, type Stores } from '../support/stores.ts'

const hour = 3_600_000
const minute = 60_000
const publicUrl = 'https://stats.example'
export const telling: Telling = { outbox: { secrets: keySecrets, publicUrl }, publicUrl }

export interface WatchedWorld {
  stores: Stores
  siteId: string
  accountId: string
  domain: string
  zone: string
  owner: string
  viewer: string
  /** So many visitors in an hour that begins at an instant, one a minute or more. */
  visitors(at: string | number, count: number, hit?: Partial<Hit>): Promise<void>
  /** The same visitors in the same hour of the last weeks, by the clock of the site. */
  usual(at: string, weeks: readonly number[], hit?: Partial<Hit>): Promise<void>
  alert(condition: Condition, more?: Partial<Omit<AlertSettings, 'condition'>>): Promise<void>
  /** One check, with what earlier ones remembered. */
  check(at: string | number): Promise<void>
  /** Checks every nine minutes, because a longer pause would be an outage of Footfall, and at the end. */
  checkUntil(from: string, until: string): Promise<void>
  one(): Promise<Alert>
  mails(recipient?: string): Promise<Mail[]>
  /** The bodies for webhooks, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole bodies with literals
  webhooks(): Promise<any[]>
}

export interface WatchedWorldOptions {
  zone?: string
  excludedCountries?: CountryCode[]
}

export async function openWatchedWorld(
  atEnd: (end: () => Promise<void>) => void,
  { zone = 'UTC', excludedCountries = [] }: WatchedWorldOptions = {},
): Promise<WatchedWorld> {
  const stores = await freshStores(atEnd)
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Main', plan: 'Growth' })
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, { accountId, domain, timeZone: zone, excludedCountries })
  const person = async (role: Role): Promise<string> => {
    const email = `${randomUUID()}@example.com`
    await addMember(postgres, accountId, await createUser(postgres, email, 'no password'), role)
    return email
  }
  const [owner, viewer] = [await person('owner'), await person('viewer')]
  await inTransaction(postgres, (transaction) =>
    createWebhook(transaction, keySecrets, { siteId, url: 'https://hooks.example/', createdBy: owner, nonce: 'one' }),
  )
  const hours = createHours(clickhouse)
  const instantOf = (at: string | number) => (typeof at === 'number' ? at : Date.parse(at))

  const world: WatchedWorld = {
    stores,
    siteId,
    accountId,
    domain,
    zone,
    owner,
    viewer,
    async visitors(at, count, hit = {}) {
      const start = instantOf(at)
      const events = Array.from({ length: count }, (_, index) =>
        eventOf(
          { visitor: `${start} ${index}`, at: new Date(start + ((index * minute) % hour)).toISOString(), ...hit },
          siteId,
          zone,
        ),
      )
      if (events.length > 0) await recordBatch(clickhouse, { id: randomUUID(), events })
    },
    async usual(at, weeks, hit) {
      const local = Temporal.Instant.from(at).toZonedDateTimeISO(zone)
      for (const [index, count] of weeks.entries())
        await world.visitors(local.subtract({ weeks: index + 1 }).epochMilliseconds, count, hit)
    },
    async alert(condition, more = {}) {
      const settings = { condition, mailTo: 'owners', toWebhooks: true, quiet: undefined, ...more } as const
      await inTransaction(postgres, (transaction) =>
        createAlert(transaction, { ...settings, siteId, createdBy: owner, nonce: randomUUID() }),
      )
    },
    check: (at) => checkIfDue(stores, hours, instantOf(at), telling),
    async checkUntil(from, until) {
      for (let at = instantOf(from); at < instantOf(until); at += 9 * minute) await world.check(at)
      await world.check(until)
    },
    async one() {
      const [alert, ...more] = await alertsOf(postgres, siteId)
      assert.ok(alert && more.length === 0)
      return alert
    },
    mails: (recipient = owner) => mailsTo(postgres, recipient),
    async webhooks() {
      const rows = await postgres<{ type: string; body: string }[]>`
        SELECT type, body FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id
        WHERE site_id = ${siteId} ORDER BY webhook_deliveries.created_at`
      return rows.map(({ type, body }) => ({ type, ...JSON.parse(body).data }))
    },
  }
  return world
}
