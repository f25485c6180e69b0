// Script in every stored string: whatever got into the tables, pages show it as text.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { newId } from '../../src/accounts/ids.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { routes } from '../../src/console/routes.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { auditedActions } from '../../src/users/audit-log.ts'
import { addIdentity } from '../../src/users/identities.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { openBrowser } from '../support/browser.ts'
import { eventOf } from '../support/events.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { startProvider } from '../support/provider.ts'
import type { Stores } from '../support/stores.ts'
import { openConsole, password } from './console.ts'
import { addressOf, exampleOf, nameOf } from './route-examples.ts'
import { makeThings, type OwnThings } from './things.ts'

const script = `<script>window.hit=1</script>" onerror=1 '><img src=x onerror=window.hit=1>`
/** Tells where a text on a page comes from. */
const markOf = (column: string): string => `${script}${column}`

/** Every text of a person, a program or a visitor in PostgreSQL that some page shows. */
const shown = [
  'accounts.name',
  'alerts.created_by',
  'alerts.event',
  'api_keys.created_by',
  'api_keys.name',
  'api_keys.prefix',
  'audit_log.actor',
  'audit_log.address',
  'audit_log.details',
  'audit_log.subject',
  'deleted_sites.domain',
  'goals.event',
  'goals.name',
  'goals.path',
  'goals.property_key',
  'goals.property_value',
  'imports.files',
  'notes.created_by',
  'notes.text',
  'one_time_links.email',
  'report_subscriptions.created_by',
  'report_subscriptions.email',
  'report_subscriptions.filters',
  'segments.filters',
  'segments.name',
  'shared_links.created_by',
  'shared_links.filters',
  'shared_links.hostname',
  'shared_links.name',
  'shared_links.utm_source',
  'sites.domain',
  'sites.hostnames',
  'uploads.fault',
  'uploads.files',
  'user_identities.email',
  'user_sessions.address',
  'user_sessions.browser',
  'users.email',
  'webhook_deliveries.body',
  'webhook_deliveries.problem',
  'webhook_deliveries.type',
  'webhooks.created_by',
  'webhooks.url',
]

/** The other columns of text: ids, words from a fixed list, zones that Temporal knows, and what no page reads. */
const others = [
  /\.(id|account_id|site_id|user_id|key_id)$/,
  /^(collectors|imported_days|leases|migrations|recount\w+|retention|salts|rollup_\w+|shards|today_coverage)\./,
  /^outbox\./,
  /^dropped_(events|hits)\./, // shown while a site waits for its first event: site-settings.test.ts has script in it
  /^user_identities\.(issuer|subject)$/,
  /^(accounts\.plan|members\.role|one_time_links\.(purpose|role)|audit_log\.(action|new_key_id))$/,
  /^(sites\.(time_zone|excluded_countries)|(users|shared_links)\.password_hash|api_keys\.rotated_from)$/,
  /^shared_links\.(country|device)$/,
  /^segments\.created_by$/,
  /^notes\.cause$/,
  /^imports\.(time_zone|kind|hashes)$/,
  /^uploads\.(state|created_by|address)$/,
  /^alerts\.(kind|mail_to)$/,
  /^webhook_deliveries\.(webhook_id|replay_of|state)$/,
  /^(outbox|report_subscriptions\.(every|time_zone)$)/,
]

test('script in every stored string is shown as text', { timeout: 600_000 }, async (t) => {
  const stores = await freshStores((end) => t.after(end))
  const { postgres } = stores
  const provider = await startProvider()
  t.after(provider.stop)
  const { url } = await openConsole(t, { stores, provider, sendsMail: true })
  const things = await makeThings(stores, await createPasswords().hash(password))
  const texts = (await textColumns(postgres)).filter((column) => !others.some((shape) => shape.test(column)))
  assert.deepEqual(texts, shown, 'a new column of text belongs to one of the lists')
  await plant(stores, things)
  const identity = { issuer: new URL(provider.settings.issuer).href, subject: 'x' }
  await addIdentity(postgres, things.owner.userId, identity, markOf('user_identities.email'))

  const browser = await openBrowser()
  t.after(() => browser.close())
  // Without the policy of our pages: escaping alone must be enough.
  const context = await browser.newContext({ bypassCSP: true })
  await context.addCookies([{ name: 'footfall-session', value: things.owner.cookie, url }])
  const page = await context.newPage()
  const seen = new Set<string>()

  for (const route of routes) {
    if (route.method !== 'GET' || exampleOf(route).isNoPage) continue
    await page.goto(url + addressOf(route, things))
    for (const column of await inert(page, nameOf(route))) seen.add(column)
  }
  assert.deepEqual(
    shown.filter((column) => !seen.has(column)),
    [],
    'no page shows these columns: they belong to the other list, or the page does not show them as they are',
  )

  // What a person types comes back after a mistake.
  for (const route of routes) {
    const { mistake, form: ofForm } = exampleOf(route)
    if (route.method !== 'POST' || !mistake) continue
    const fields = Object.entries(mistake(things)).map(([name, value]) => [name, name === 'account' ? value : script])
    await page.goto(url + (ofForm?.(things).page ?? '/account'))
    const token = await page.getAttribute('input[name=token]', 'value')
    const form = JSON.stringify({ action: addressOf(route, things), fields: [['token', token], ...fields] })
    await Promise.all([page.waitForNavigation(), page.evaluate(`(${sendForm})(${form})`)])
    await inert(page, nameOf(route))
  }
})

const sendForm = `({ action, fields }) => {
  const form = Object.assign(document.createElement('form'), { method: 'post', action })
  for (const [name, value] of fields) form.append(Object.assign(document.createElement('input'), { name, value }))
  document.body.append(form)
  form.submit()
}`

/** Returns the columns whose mark the page shows as text. */
async function inert(page: Page, name: string): Promise<string[]> {
  const [hit, elements, text] = await page.evaluate<[unknown, number, string]>(`[
    window.hit ?? null,
    document.querySelectorAll('img[src=x], script:not([src]), [onerror]').length,
    [document.body.innerText, ...[...document.querySelectorAll('input, textarea, option, details, [title]')].map(
      (element) => (element.value ?? '') + ' ' + element.textContent + ' ' + element.title,
    )].join(' '),
  ]`)
  assert.deepEqual([name, hit, elements], [name, null, 0])
  return shown.filter((column) => text.includes(markOf(column)))
}

async function textColumns(postgres: Postgres): Promise<string[]> {
  const columns = await postgres<{ name: string }[]>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND (data_type = 'text' OR udt_name = '_text')
    ORDER BY 1`
  return columns.map(({ name }) => name).sort()
}

/** Directly in the tables: the forms refuse most of it. */
async function plant({ postgres, clickhouse }: Stores, things: OwnThings): Promise<void> {
  const { accountId, siteId, owner, memberId, sessionId } = things
  await postgres`UPDATE accounts SET name = ${markOf('accounts.name')}`
  await postgres`
    UPDATE api_keys SET name = ${markOf('api_keys.name')}, prefix = ${markOf('api_keys.prefix')},
                        created_by = ${markOf('api_keys.created_by')}`
  const [name, event] = [markOf('goals.name'), markOf('goals.event')]
  const property = { property_key: markOf('goals.property_key'), property_value: markOf('goals.property_value') }
  // The table refuses such a name and such a key.
  await postgres`ALTER TABLE goals DROP CONSTRAINT goals_name_check, DROP CONSTRAINT goals_property_key_check,
                                   DROP CONSTRAINT goals_path_check`
  await postgres`INSERT INTO goals ${postgres({ site_id: siteId, name, event, ...property })}`
  await postgres`INSERT INTO goals ${postgres({ site_id: siteId, name: 'Path', path: markOf('goals.path') })}`
  await postgres`UPDATE imports SET files = ${[markOf('imports.files')]} WHERE site_id = ${siteId}`
  await postgres`
    UPDATE uploads SET state = 'failed', files = ${[markOf('uploads.files')]}, fault = ${markOf('uploads.fault')} WHERE site_id = ${siteId}`
  await postgres`UPDATE notes SET text = ${markOf('notes.text')}, created_by = ${markOf('notes.created_by')} WHERE site_id = ${siteId}`
  await postgres`ALTER TABLE segments DROP CONSTRAINT segments_name_check`
  await postgres`
    INSERT INTO segments (site_id, name, filters, created_by)
    VALUES (${siteId}, ${markOf('segments.name')}, ARRAY[${markOf('segments.filters')}], '')`
  await postgres`UPDATE sites SET hostnames = ARRAY[${markOf('sites.hostnames')}] WHERE id = ${siteId}`
  // A site of this name has no page, because its address cannot be written, but lists show it.
  await createSite(postgres, { accountId, domain: markOf('sites.domain') })
  await postgres`INSERT INTO deleted_sites (id, domain, account_id)
                 VALUES (${newId('site')}, ${markOf('deleted_sites.domain')}, ${accountId})`
  await postgres`UPDATE one_time_links SET email = ${markOf('one_time_links.email')} WHERE purpose = 'invitation'`
  await postgres`
    UPDATE shared_links SET name = ${markOf('shared_links.name')}, created_by = ${markOf('shared_links.created_by')},
                            hostname = ${markOf('shared_links.hostname')}, utm_source = ${markOf('shared_links.utm_source')},
                            filters = CASE WHEN embeddable THEN ARRAY[${markOf('shared_links.filters')}] END`
  await postgres`
    UPDATE report_subscriptions
    SET created_by = ${markOf('report_subscriptions.created_by')}, filters = ARRAY[${markOf('report_subscriptions.filters')}]`
  await postgres`UPDATE alerts SET event = ${markOf('alerts.event')}, created_by = ${markOf('alerts.created_by')}`
  await postgres`UPDATE webhooks SET url = ${markOf('webhooks.url')}, created_by = ${markOf('webhooks.created_by')}`
  // The table refuses such a type.
  await postgres`ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_type_check`
  await postgres`
    UPDATE webhook_deliveries SET type = ${markOf('webhook_deliveries.type')}, body = ${markOf('webhook_deliveries.body')},
                                  problem = ${markOf('webhook_deliveries.problem')}`
  await postgres`
    UPDATE report_subscriptions SET email = ${markOf('report_subscriptions.email')} WHERE confirmed_at IS NULL`
  await postgres`UPDATE users SET email = ${markOf('users.email')} WHERE id = ${memberId}`
  await postgres`UPDATE users SET email = ${`${script}owner`} WHERE id = ${owner.userId}`
  await postgres`
    UPDATE user_sessions SET address = ${markOf('user_sessions.address')}, browser = ${markOf('user_sessions.browser')}
    WHERE id = ${sessionId}`
  for (const action of Object.keys(auditedActions)) {
    await postgres`
      INSERT INTO audit_log (account_id, actor, action, subject, details, address)
      VALUES (${accountId}, ${markOf('audit_log.actor')}, ${action}, ${markOf('audit_log.subject')},
              ${markOf('audit_log.details')}, ${markOf('audit_log.address')})`
  }
  const hit = {
    ...{ name: script, hostname: script, pathname: script, title: script, referrer: script, utmSource: script },
    ...{ campaign: { medium: script, campaign: script, content: script, term: script }, props: { [script]: script } },
    ...{ browser: script, os: script },
  }
  const at = Temporal.Now.instant().subtract({ minutes: 1 }).toString()
  const events = [hit, { ...hit, name: 'pageview' }].map((one) => eventOf({ at, ...one }, siteId, 'UTC'))
  await recordBatch(clickhouse, { id: randomUUID(), events })
}
