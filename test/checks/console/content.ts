// What the pages show: an account as people have it, one whose every name is as long as can be, and one that is still empty.
import { randomUUID } from 'node:crypto'
import { type EnteredCondition, goalOf, maxGoalLength } from '../../../src/accounts/goal-rules.ts'
import { createGoal, deleteGoal } from '../../../src/accounts/goals.ts'
import { newId } from '../../../src/accounts/ids.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import {
  createSite,
  findSite,
  type Site,
  setExcludedCountries,
  setHostnames,
  setTimeZone,
} from '../../../src/accounts/sites.ts'
import { createAlert } from '../../../src/alerts/alerts.ts'
import { generateDemo } from '../../../src/demo/generate.ts'
import { forgetRollups } from '../../../src/rollups/invalidation.ts'
import { inTransaction } from '../../../src/stores/postgres.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { auditedActions } from '../../../src/users/audit-log.ts'
import { addNote, maxNoteLength, noteChange } from '../../../src/users/notes.ts'
import { createPasswords } from '../../../src/users/passwords.ts'
import { maxSegmentName } from '../../../src/users/segments.ts'
import { createSession } from '../../../src/users/sessions.ts'
import { password } from '../../console/console.ts'
import { makeThings, type Names, type OwnThings } from '../../console/things.ts'
import { custom, eventOf, type Hit, pageview } from '../../support/events.ts'
import { keySecrets, type Stores } from '../../support/stores.ts'

export interface Content {
  usual: OwnThings
  long: OwnThings
  empty: OwnThings
}

const day = 24 * 3_600_000

export async function makeContent(stores: Stores, now: number): Promise<Content> {
  const passwordHash = await createPasswords().hash(password)
  const usual = await makeThings(stores, passwordHash, defaultNames)
  await fillUsual(stores, usual, now)
  const long = await makeThings(stores, passwordHash, longNames)
  await fillLong(stores, long)
  const empty = await makeThings(stores, passwordHash, emptyNames)
  await stores.postgres`DELETE FROM api_keys WHERE account_id = ${empty.accountId}`
  await stores.postgres`DELETE FROM shared_links WHERE site_id = ${empty.siteId}`
  await deleteGoal(stores.postgres, empty.siteId, empty.goal)
  await stores.postgres`DELETE FROM segments WHERE site_id = ${empty.siteId}`
  await stores.postgres`DELETE FROM notes WHERE site_id = ${empty.siteId}`
  await stores.postgres`DELETE FROM uploads WHERE site_id = ${empty.siteId}`
  await stores.postgres`DELETE FROM imports WHERE site_id = ${empty.siteId}`
  await stores.postgres`DELETE FROM webhooks WHERE site_id = ${empty.siteId}`
  await stores.postgres`DELETE FROM alerts WHERE site_id = ${empty.siteId}`
  await stores.postgres`DELETE FROM report_subscriptions WHERE account_id = ${empty.accountId}`
  return { usual, long, empty }
}

const defaultNames: Names = {
  account: 'Northwind Trading',
  domain: 'demo.example',
  goal: 'Signup',
  segment: 'Pricing from search',
  note: 'Newsletter about the roadmap',
  person: (kind) =>
    ({ owner: 'maria.keller', viewer: 'sam', member: 'jo.ferreira', invited: 'new.colleague', reader: 'agency' })[kind],
}

async function fillUsual(stores: Stores, things: OwnThings, now: number): Promise<void> {
  const { postgres, clickhouse } = stores
  const { accountId, siteId, owner, memberId, keyId, accountKeyId, webhookId, deliveryId } = things
  await postgres`UPDATE api_keys SET name = 'Counter on the home page' WHERE id = ${keyId}`
  await postgres`UPDATE api_keys SET name = 'All sites' WHERE id = ${accountKeyId}`
  await setTimeZone(postgres, siteId, 'Europe/Berlin')
  await setHostnames(postgres, siteId, { hostnames: ['demo.example', 'shop.demo.example'], allowSubdomains: false })
  await setExcludedCountries(postgres, siteId, ['CN', 'RU'])
  const goals: [name: string, condition: EnteredCondition][] = [
    ['Pro plan', { event: 'Signup', property: { key: 'plan', value: 'pro' } }],
    ['Reads the blog', { pattern: '/blog/**' }],
    ['Opens a pricing page', { pattern: '/*/pricing' }],
  ]
  const site = (await findSite(postgres, siteId)) as Site
  const dayBefore = (days: number) => new Date(now - days * day).toISOString().slice(0, 10)
  const notes: [days: number, text: string][] = [
    [12, 'Launched the new pricing'],
    [12, 'Article on a news site with many readers'],
    [80, 'Moved the blog to another host'],
    [200, 'First campaign'],
  ]
  for (const [days, text] of notes)
    await addNote(postgres, { actor: 'maria.keller@example.com' }, site, { day: dayBefore(days), text })
  const own = { day: dayBefore(21), text: 'Excluded countries: China and Russia', cause: 'exclusions' } as const
  await noteChange(postgres, { actor: 'maria.keller@example.com' }, site, own)
  const preview = {
    kind: 'umami',
    events: 48_213,
    leftOut: {
      'days after 2026-08-14': 1_204,
      'clicks on short links, pixels and measurements of speed': 86,
      bots: 12,
    },
    broken: [],
    days: { first: '2025-01-01', last: '2026-08-14' },
  }
  // As if its process were there.
  await postgres`
    UPDATE uploads SET files = '{website_event.csv}', preview = ${postgres.json(preview)}, until = '2026-08-14', seen_at = now() + interval '1 day'
    WHERE site_id = ${siteId}`
  await postgres`
    UPDATE imports SET kind = 'access-log', files = '{access.log.2.gz,access.log.3.gz}', events = 9170, days = '{[2024-11-01,2024-12-01)}'
    WHERE site_id = ${siteId}`
  for (const [name, condition] of goals) await createGoal(postgres, siteId, goalOf(name, condition))
  const domains = ['shop.example', 'blog.example', 'docs.example', 'status.example', 'events.example']
  const sites: [id: string, domain: string, events: number][] = [[siteId, 'demo.example', 20_000]]
  for (const domain of domains) {
    // One of them waits for its first event.
    const events = domain === 'events.example' ? 0 : 10_000
    sites.push([await createSite(postgres, { accountId, domain }), domain, events])
  }
  for (const [index, [id, domain, events]] of sites.entries()) {
    if (events === 0) continue
    await generateDemo({ clickhouse, siteId: id, domain, zone: 'UTC', events, seed: index + 1, until: now })
    await forgetRollups(postgres, id)
  }

  await recordLive(stores, siteId, now)

  const keys: [name: string, expiresInDays: number | null, usedDaysAgo: number | null, isDisabled: boolean][] = [
    ['Weekly report', 89, null, false],
    ['Grafana', 9, 0.0015, false],
    ['Old widget', null, 92, true],
    ['Last year’s export', -30, 31, false],
    ['Status page', null, 0.2, false],
  ]
  for (const [name, expiresInDays, usedDaysAgo, isDisabled] of keys) {
    const expiry = expiresInDays === null ? {} : { expiresAt: new Date(now + expiresInDays * day) }
    const { id } = await createKey(postgres, keySecrets, { accountId, siteId, name, ...expiry })
    const usedAt = usedDaysAgo === null ? null : new Date(now - usedDaysAgo * day)
    await postgres`
      UPDATE api_keys SET disabled = ${isDisabled}, last_used_at = ${usedAt}, created_by = ${owner.email},
                          created_at = now() - interval '100 days'
      WHERE id = ${id}`
    if (usedDaysAgo !== null && usedDaysAgo < 1) {
      await postgres`
        INSERT INTO key_usage (key_id, hour, requests)
        SELECT ${id}, date_trunc('hour', now()) - hours * interval '1 hour', 20 + (hours * 37) % 90
        FROM generate_series(0, 23) AS hours`
    }
  }
  const maker = await emailOf(stores, memberId)
  await postgres`UPDATE api_keys SET created_by = ${maker} WHERE id IN (${keyId}, ${accountKeyId})`
  await postgres`UPDATE shared_links SET created_by = ${maker} WHERE site_id = ${siteId} AND name = 'Home page'`
  await postgres`
    UPDATE shared_links SET created_by = ${owner.email}, last_used_at = now() - interval '3 hours',
                            expires_at = now() + interval '9 days'
    WHERE site_id = ${siteId} AND name = 'The board'`
  await postgres`
    INSERT INTO shared_links (hash, id, site_id, name, created_by, revoked_at, embeddable, country, device)
    VALUES (sha256('revoked'), ${newId('share')}, ${siteId}, 'Old campaign', ${owner.email}, now() - interval '2 days', FALSE, 'DE', 'Mobile')`
  await addAlerts(stores, { siteId, createdBy: owner.email })
  const outcomes = [
    ['waiting', 503, 2041, 3, 'the receiver answered 503: {"error":"maintenance until 09:00"}'],
    ['delivered', 204, 112, 1, ''],
    ['in doubt', null, 10_004, 1, 'the receiver did not answer within 10 seconds'],
  ] as const
  for (const [index, [state, status, duration, attempts, problem]] of outcomes.entries())
    await postgres`
      INSERT INTO webhook_deliveries (id, webhook_id, replay_of, type, body, state, http_status, duration_ms, attempts, problem, created_at, next_attempt_at)
      VALUES (${newId('whd')}, ${webhookId}, ${index === 1 ? deliveryId : null}, 'alert.over', ${'{"type":"alert.over","timestamp":"2026-11-18T08:00:00.000Z","data":{"site":"demo.example"}}'},
              ${state}, ${status}, ${duration}, ${attempts}, ${problem}, now() - ${index} * interval '5 hours', now() + interval '25 minutes')`
  await createSession(postgres, owner.userId, { address: '203.0.113.0', browser: 'Chrome on Windows' })
  await recordEntries(stores, accountId, {
    actors: [owner.email, owner.email, 'command line'],
    domain: 'demo.example',
    key: 'Grafana',
    email: 'sam@example.com',
  })
}

/** Somebody is on the site all the time: hits from half an hour ago to one from now, because pages show only those until now. */
async function recordLive({ clickhouse }: Stores, siteId: string, now: number): Promise<void> {
  const paths = ['/', '/pricing', '/docs/start', '/blog/the-state-of-churn', '/features', '/signup', '/changelog']
  const countries = ['DE', 'US', 'AT', 'GB', 'NL', 'FR'] as const
  const sources = [{}, { referrer: 'google.com', channel: 'Organic Search' }, { utmSource: 'newsletter' }] as const
  const hits = Array.from({ length: 360 }, (_, nth): Hit => {
    const of = <Value>(all: readonly Value[], step: number) => all[(((nth * nth) % 97) % step) % all.length] as Value
    const hit = {
      at: new Date(now + (nth - 180) * 10_000 - (nth % 7) * 900).toISOString(),
      visitor: `live ${Math.floor(nth / 3)}`,
      pathname: of(paths, 11),
      country: countries[Math.floor(nth / 3) % countries.length] as (typeof countries)[number],
      ...sources[Math.floor(nth / 3) % sources.length],
    }
    return nth % 9 === 4 ? custom(nth % 2 === 0 ? 'Signup' : 'calculator_used', hit) : pageview(hit)
  })
  const events = hits.map((hit) => eventOf(hit, siteId, 'Europe/Berlin'))
  await recordBatch(clickhouse, { id: randomUUID(), events })
}

/** As long as a host name may be: 253 characters in labels of at most 63. */
const longDomain = `${Array.from('abc', (letter) => letter.repeat(60)).join('.')}.${'d'.repeat(60)}.example`
const longText = `Quarterly ${'verylongwordwithoutanyspace'.repeat(6)} figures for the board, the bank and everybody else`

const longNames: Names = {
  account: longText,
  domain: longDomain,
  goal: 'w'.repeat(maxGoalLength.name),
  segment: 'w'.repeat(maxSegmentName),
  note: 'w'.repeat(maxNoteLength),
  person: (kind) => `${kind}.${'a-very-long-name-'.repeat(13)}`.slice(0, 242),
}

async function fillLong(stores: Stores, { accountId, siteId, owner, memberId }: OwnThings): Promise<void> {
  const { postgres } = stores
  const maker = await emailOf(stores, memberId)
  await setHostnames(postgres, siteId, {
    hostnames: Array.from({ length: 12 }, (_, index) => `h${index}.${longDomain.slice(4)}`),
    allowSubdomains: true,
  })
  await setTimeZone(postgres, siteId, 'America/Argentina/ComodRivadavia')
  const property = { key: 'k'.repeat(maxGoalLength.propertyKey), value: longText.slice(0, maxGoalLength.propertyValue) }
  const event = longText.slice(0, maxGoalLength.event)
  await createGoal(postgres, siteId, goalOf(longText.slice(0, maxGoalLength.name), { event, property }))
  await createGoal(postgres, siteId, goalOf('Path', { pattern: `/${'p'.repeat(maxGoalLength.pattern - 1)}` }))
  const file = `${'f'.repeat(250)}.csv`
  await postgres`
    UPDATE uploads SET files = ${[file]}, state = 'failed', fault = ${`Line 1: has an unknown field, ${'x'.repeat(900)}`}
    WHERE site_id = ${siteId}`
  await postgres`UPDATE imports SET files = ${[file, file]}, events = 9007199254740991 WHERE site_id = ${siteId}`
  await setExcludedCountries(postgres, siteId, ['GB', 'GS', 'VC', 'CD', 'UM', 'BQ', 'SH', 'TF', 'IO', 'MK'])
  await postgres`UPDATE api_keys SET name = ${longText.slice(0, 250)}, created_by = ${maker} WHERE account_id = ${accountId}`
  await postgres`
    UPDATE shared_links SET name = ${longText.slice(0, 250)}, created_by = ${maker}, utm_source = ${longText.slice(0, 250)}
    WHERE site_id = ${siteId}`
  await postgres`
    UPDATE webhooks SET url = ${`https://${longDomain}/${'hook'.repeat(400)}`}, created_by = ${maker}, disabled_at = now() WHERE site_id = ${siteId}`
  await postgres`
    UPDATE alerts SET event = ${'w'.repeat(maxGoalLength.event)}, created_by = ${maker}, threshold = 72, min_usual = 1000000 WHERE site_id = ${siteId}`
  await postgres`
    UPDATE webhook_deliveries SET problem = ${longText}, body = ${`{"data":"${'w'.repeat(2_000)}"}`} FROM webhooks
    WHERE webhooks.id = webhook_id AND site_id = ${siteId}`
  await recordEntries(stores, accountId, {
    actors: [owner.email],
    domain: longDomain,
    key: longText,
    email: owner.email,
  })
}

/** One of each other kind: off, on, and one that is told later. */
async function addAlerts({ postgres }: Stores, by: { siteId: string; createdBy: string }): Promise<void> {
  const conditions = [
    { kind: 'many', threshold: 500 },
    { kind: 'rise', threshold: 3, minUsual: 20 },
    { kind: 'drop', threshold: 30, minUsual: 50 },
    { kind: 'silence', threshold: 3, minUsual: 20 },
  ] as const
  for (const condition of conditions) {
    const alert = { condition, mailTo: 'members', toWebhooks: condition.kind !== 'many', quiet: undefined } as const
    await inTransaction(postgres, (transaction) => createAlert(transaction, { ...by, ...alert, nonce: condition.kind }))
  }
  await postgres`
    UPDATE alerts SET is_on = true, is_told = kind = 'rise', began_at = now() - interval '50 minutes',
      began_with = '{"hour": 1, "visitors": 1324, "usual": 402}'
    WHERE site_id = ${by.siteId} AND kind IN ('rise', 'drop')`
  await postgres`
    UPDATE alerts SET began_at = now() - interval '9 days', over_at = now() - interval '8 days', began_with = '{"visitors": 802}'
    WHERE site_id = ${by.siteId} AND kind = 'many'`
}

async function emailOf({ postgres }: Stores, userId: string): Promise<string> {
  const [user] = await postgres<{ email: string }[]>`SELECT email FROM users WHERE id = ${userId}`
  return user?.email as string
}

const emptyNames: Names = {
  account: 'Fresh start',
  domain: 'fresh.example',
  goal: 'Signup',
  segment: 'Blog',
  note: 'Started',
  person: (kind) => `${kind}.fresh`,
}

/** Every action several times, so that the log has more than one page. */
async function recordEntries(
  { postgres }: Stores,
  accountId: string,
  { actors, domain, key, email }: { actors: readonly string[]; domain: string; key: string; email: string },
): Promise<void> {
  const actions = Object.keys(auditedActions)
  for (let index = 119; index >= 0; index--) {
    const of = (list: readonly string[]) => list[index % list.length] as string
    const [action, actor] = [of(actions), of(actors)]
    const subject =
      { site: domain, goal: domain, alert: domain, webhook: domain, key, link: key, member: email }[
        action.split('.')[0] as string
      ] ?? actor
    await postgres`
      INSERT INTO audit_log (at, account_id, actor, action, subject, details, address)
      VALUES (now() - ${index} * interval '5 hours', ${accountId}, ${actor}, ${action}, ${subject},
              ${action === 'site.time_zone_changed' ? 'UTC → Europe/Berlin' : ''},
              ${actor === 'command line' ? '' : of(['203.0.113.0', '2001:db8:85a3::'])})`
  }
}
