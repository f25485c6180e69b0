import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setPlan } from '../../src/accounts/accounts.ts'
import { derivedId, newId } from '../../src/accounts/ids.ts'
import { createKey, deleteKey, listKeysOf, setKeyDisabled } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { recordAction } from '../../src/users/audit-log.ts'
import { keySecrets } from '../support/stores.ts'
import { mainOf, openConsole, type Page, type TestConsole, type Visitor } from './console.ts'

const now = '2026-11-16T12:30:00Z'
const at = Date.parse(now)
const [hour, day] = [3_600_000, 86_400_000]

const listOf = ({ domain }: TestConsole) => `/sites/${domain}/settings/keys`

/** Sends the form of a new key as a browser does, with the nonce of its page. */
async function create(console: TestConsole, visitor: Visitor, fields: Record<string, string> = {}, nonce?: string) {
  const list = listOf(console)
  const [, own = ''] = /name="nonce" value="([^"]*)"/.exec((await visitor.get(`${list}/new`)).text) ?? []
  return visitor.post(`${list}/new`, list, {
    name: 'Report',
    scope: console.domain,
    expiry: '30',
    nonce: nonce ?? own,
    ...fields,
  })
}

const keyIn = ({ text }: Page): string => /id="whole-key"[^>]*>([^<]*)</.exec(text)?.[1] ?? ''

const keysOf = async ({ stores, accountId }: TestConsole) => [...(await listKeysOf(stores.postgres, accountId))]

test('a new key has the chosen name, scope and expiry, and remembers who made it', async (t) => {
  const console = await openConsole(t, { now })
  const owner = await console.signedIn('owner')
  const cases = [
    [{ expiry: '30' }, 's', at + 30 * day],
    [{ expiry: '90' }, 's', at + 90 * day],
    [{ expiry: '365', scope: 'account' }, 'a', at + 365 * day],
    [{ expiry: 'date', date: '2027-01-31' }, 's', Date.parse('2027-01-31T00:00:00Z')],
    [{ expiry: 'never' }, 's', undefined],
  ] as const
  for (const [fields, letter, expiresAt] of cases) {
    const page = await create(console, owner, { name: ' Weekly  report ', ...fields })
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('cache-control'), 'no-store')
    const text = keyIn(page)
    assert.match(text, new RegExp(`^ff_${letter}_[0-9A-Za-z]{36}$`))
    const key = (await keysOf(console)).find(({ prefix }) => prefix === text.slice(0, 9))
    assert.deepEqual(
      [key?.name, key?.createdBy, key?.domain, key?.expiresAt?.getTime(), key?.rotatedFrom],
      ['Weekly  report', owner.email, letter === 's' ? console.domain : null, expiresAt, null],
    )
    const answer = await console.api.fetch(`/api/v1/stats/overview?range=7d&site_id=${console.siteId}`, {
      headers: { Authorization: `Bearer ${text}` },
    })
    assert.equal(answer.status, 200)
  }
})

test('a mistake shows the form again with what was typed, and makes no key', async (t) => {
  const console = await openConsole(t, { now })
  const owner = await console.signedIn('owner')
  const mistakes: [Record<string, string>, RegExp][] = [
    [{ name: '  ' }, /Give the key a name/],
    [{ name: 'x'.repeat(61) }, /The name is too long/],
    [{ name: 'a\u0001b' }, /plain text/],
    [{ scope: '' }, /Choose what the key may read/],
    [{ expiry: 'soon' }, /Choose when the key expires/],
    [{ expiry: 'date' }, /Enter the date/],
    [{ expiry: 'date', date: '2027-02-30' }, /Enter the date/],
    [{ expiry: 'date', date: '2026-11-16' }, /in the past/],
  ]
  for (const [fields, said] of mistakes) {
    const page = await create(console, owner, { name: '<b>Typed</b>', ...fields })
    assert.deepEqual([fields, page.status], [fields, 422])
    assert.match(page.text, said)
    if (!fields.name) assert.match(page.text, /value="&#60;b&#62;Typed&#60;\/b&#62;"/)
  }
  assert.equal((await create(console, owner, {}, 'short')).status, 403)
  assert.deepEqual(await keysOf(console), [])
})

test('the same form makes one key: sent twice, at the same time, and after the key was deleted', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const nonce = 'abcdefghijklmnopqrstuv'
  const both = await Promise.all([create(console, owner, {}, nonce), create(console, owner, {}, nonce)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  const again = await create(console, owner, { name: 'Another name' }, nonce)
  assert.deepEqual([again.status, keyIn(again)], [409, ''])
  assert.match(again.text, /already created and is shown only once/)
  const [key, ...more] = await keysOf(console)
  assert.deepEqual(more, [])

  const page = `${listOf(console)}/${key?.id}`
  await owner.post(page, `${page}/delete`, { confirm: 'yes' })
  assert.equal((await create(console, owner, {}, nonce)).status, 409)
  assert.deepEqual(await keysOf(console), [])

  // The same letters in another account are another key.
  const other = await console.addAccount()
  const stranger = await console.signedIn('owner', other.accountId)
  const list = `/sites/${other.domain}/settings/keys`
  const fields = { name: 'Report', scope: other.domain, expiry: '30', nonce }
  assert.equal((await stranger.post(`${list}/new`, list, fields)).status, 200)
})

test('which keys a form has made is a column: the words of the audit log decide nothing', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const nonce = 'the-nonce-of-a-form-22'
  const details = `mentions ${derivedId('key', `${console.accountId} ${nonce}`)}`
  const entry = { accountId: console.accountId, actor: owner.email, subject: 'Report', details }
  await recordAction(console.stores.postgres, { ...entry, action: 'key.created' })
  assert.equal((await create(console, owner, {}, nonce)).status, 200)
  assert.equal((await create(console, owner, {}, nonce)).status, 409)
})

test('after a rotation the old key ends now, in 1 hour, 24 hours or 7 days, but never later than before', async (t) => {
  const console = await openConsole(t, { now })
  const owner = await console.signedIn('owner')
  const { postgres } = console.stores
  const { accountId, siteId } = console
  const rotate = async (id: string, overlap: string, nonce = newId('key').padEnd(22, '-')) => {
    const page = `${listOf(console)}/${id}`
    return owner.post(page, `${page}/rotate`, { overlap, expiry: '90', nonce })
  }
  for (const [overlap, length] of [
    ['now', 0],
    ['1h', hour],
    ['24h', day],
    ['7d', 7 * day],
  ] as const) {
    const old = await createKey(postgres, keySecrets, { accountId, siteId, name: overlap })
    const text = keyIn(await rotate(old.id, overlap))
    const keys = await keysOf(console)
    assert.equal(keys.find(({ id }) => id === old.id)?.expiresAt?.getTime(), at + length, overlap)
    const next = keys.find(({ rotatedFrom }) => rotatedFrom === old.id)
    assert.deepEqual(
      [next?.prefix, next?.name, next?.domain, next?.expiresAt?.getTime(), next?.createdBy],
      [text.slice(0, 9), overlap, console.domain, at + 90 * day, owner.email],
    )
    const answer = await console.api.fetch('/api/v1/stats/overview', {
      headers: { Authorization: `Bearer ${old.text}` },
    })
    assert.equal(answer.json.error?.code, length === 0 ? 'key_expired' : undefined)
  }
  const soon = await createKey(postgres, keySecrets, { accountId, name: 'Soon', expiresAt: new Date(at + hour) })
  const nonce = 'a-nonce-of-22-letters_'
  const first = await rotate(soon.id, '7d', nonce)
  assert.match(first.text, /works until 16 Nov 2026, 13:30 UTC/)
  assert.match(keyIn(first), /^ff_a_/)
  assert.equal((await rotate(soon.id, 'now', nonce)).status, 409)
  const keys = await keysOf(console)
  assert.equal(
    keys.find(({ id }) => id === soon.id)?.expiresAt?.getTime(),
    at + hour,
    'the second form changed nothing',
  )
  const [next, ...more] = keys.filter(({ rotatedFrom }) => rotatedFrom === soon.id)
  assert.deepEqual(more, [])
  await deleteKey(postgres, next?.id as string)
  assert.equal((await rotate(soon.id, 'now', nonce)).status, 409, 'also after the new key was deleted')
  assert.equal((await rotate(soon.id, '2h')).status, 422)
})

test('the list shows scope, maker, use, expiry and the running window', async (t) => {
  const console = await openConsole(t, { now, plan: 'Growth' })
  const { postgres } = console.stores
  const { accountId, siteId } = console
  const make = (name: string, days: number | null, site: string | undefined = siteId) =>
    createKey(postgres, keySecrets, {
      accountId,
      name,
      siteId: site,
      createdBy: 'maria@example.com',
      expiresAt: days === null ? undefined : new Date(at + days * day),
    })
  const grafana = await make('Grafana', 9.6)
  await make('Later', 14)
  await make('Expired', -3)
  const old = await make('Old widget', 3)
  await setKeyDisabled(postgres, old.id, true)
  await createKey(postgres, keySecrets, { accountId, name: 'All sites' })
  await postgres`UPDATE api_keys SET last_used_at = ${new Date(at - 2 * 60_000)} WHERE id = ${grafana.id}`
  await postgres`
    INSERT INTO key_usage (key_id, hour, requests) VALUES
      (${grafana.id}, ${new Date('2026-11-16T12:00:00Z')}, 1200), (${grafana.id}, ${new Date('2026-11-15T13:00:00Z')}, 34),
      (${grafana.id}, ${new Date('2026-11-15T12:00:00Z')}, 999)`
  for (let request = 0; request < 3; request++) await console.api.limiter.spend(grafana.id, 2000)

  const owner = await console.signedIn('owner')
  const { text } = await owner.get(listOf(console))
  const rowOf = (name: string, page = text) =>
    page
      .split('<tr role="row">')
      .slice(1)
      .find((row) => row.includes(`<b>${name}</b>`))
      ?.replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ') ?? ''
  assert.match(
    rowOf('Grafana'),
    /this site · [\w ]+ by maria@example.com ff_s_\w{4}… 2 minutes ago active expires in 9 days 1,234 3 of 2,000/,
  )
  assert.match(rowOf('Later'), /never active expires 30 Nov 2026 0 0 of 2,000/)
  assert.match(rowOf('Expired'), /expired 3 days ago 0 –/)
  assert.match(rowOf('Old widget'), /disabled expires in 3 days 0 –/)
  assert.match(rowOf('All sites'), /whole account · .* by command line ff_a_\w{4}… never active never expires/)
  assert.match(text, /class="warning"><b>Grafana<\/b>/)
  assert.equal(text.match(/class="warning"/g)?.length, 1, 'neither disabled nor later keys')
  assert.match(text, /aria-label="1,234 requests in the last 24 hours"/)
  assert.match(text, /Create a key/)

  const viewer = await console.signedIn('viewer')
  const seen = await viewer.get(listOf(console))
  assert.match(rowOf('Grafana', seen.text), /3 of 2,000/)
  assert.doesNotMatch(mainOf(seen), /Create a key|Manage|<form/)
  const one = await viewer.get(`${listOf(console)}/${grafana.id}`)
  assert.equal(one.status, 200)
  assert.doesNotMatch(mainOf(one), /<form/)
})

test('the account shows the keys of all its sites; a site only its own and those of the account', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const { accountId, siteId } = console
  const secondSiteId = await createSite(postgres, { accountId, domain: `second-${console.domain}` })
  const first = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Of the first' })
  const second = await createKey(postgres, keySecrets, { accountId, siteId: secondSiteId, name: 'Of the second' })
  const whole = await createKey(postgres, keySecrets, { accountId, name: 'Of all' })
  const other = await console.addAccount()
  const foreign = await createKey(postgres, keySecrets, { accountId: other.accountId, name: 'Foreign' })
  const owner = await console.signedIn('owner')
  const shown = async (path: string) => {
    const { text } = await owner.get(path)
    return [first, second, whole, foreign].map(({ id }) => text.includes(id))
  }
  assert.deepEqual(await shown(listOf(console)), [true, false, true, false])
  assert.deepEqual(await shown('/account/keys'), [true, true, true, false])
  assert.match((await owner.get('/account')).text, /href="\/account\/keys/)

  const unknown = await owner.get(`${listOf(console)}/${newId('key')}`)
  assert.equal(unknown.status, 404)
  for (const id of [second.id, foreign.id, 'key_', `${first.id}%00`]) {
    const page = await owner.get(`${listOf(console)}/${id}`)
    assert.deepEqual([page.status, page.text], [404, unknown.text])
    for (const action of ['state', 'expiry', 'rotate', 'delete']) {
      const fields = { disabled: 'yes', expiry: '30', overlap: 'now', confirm: 'yes', nonce: 'a-nonce-of-22-letters_' }
      const refused = await owner.post(`${listOf(console)}/new`, `${listOf(console)}/${id}/${action}`, fields)
      assert.deepEqual([action, refused.status, refused.text], [action, 404, unknown.text])
    }
  }
  const form = { name: 'A', expiry: '30', nonce: 'a-nonce-of-22-letters_' }
  for (const scope of [other.domain, 'unknown.example', `second-${console.domain}`]) {
    const refused = await owner.post(`${listOf(console)}/new`, listOf(console), { ...form, scope })
    assert.deepEqual([scope, refused.status, refused.text], [scope, 404, unknown.text])
  }
  const inAccount = await owner.post('/account/keys/new', '/account/keys', {
    ...form,
    scope: `second-${console.domain}`,
  })
  assert.match(keyIn(inAccount), /^ff_s_/)
})

test('on a plan without API access the page says so and what to do, and makes no key', async (t) => {
  const console = await openConsole(t, { plan: 'Free' })
  const owner = await console.signedIn('owner')
  const list = await owner.get(listOf(console))
  assert.match(list.text, /The Free plan has no API access/)
  assert.match(list.text, /Starter \(1,000\), Growth \(2,000\), Scale \(3,000\) and Agency \(5,000\)/)
  assert.ok(list.text.includes(`footfall account plan ${console.accountId} Starter`))
  assert.doesNotMatch(list.text, /Create a key/)
  const fields = { name: 'A', scope: console.domain, expiry: '30', nonce: 'a-nonce-of-22-letters_' }
  assert.equal((await owner.post('/account', listOf(console), fields)).status, 422)
  assert.deepEqual(await keysOf(console), [])
  await setPlan(console.stores.postgres, console.accountId, 'Starter')
  assert.doesNotMatch((await owner.get(listOf(console))).text, /no API access/)
})

test('every change is in the audit log with who, what and from where', async (t) => {
  const console = await openConsole(t, { now })
  const owner = await console.signedIn('owner')
  const prefix = keyIn(await create(console, owner)).slice(0, 9)
  const [key] = await keysOf(console)
  const page = `${listOf(console)}/${key?.id}`
  await owner.post(page, `${page}/state`, { disabled: 'yes' })
  await owner.post(page, `${page}/state`, { disabled: 'no' })
  await owner.post(page, `${page}/expiry`, { expiry: 'never' })
  await owner.post(page, `${page}/expiry`, { expiry: 'date', date: '2020-01-01' })
  await owner.post(page, `${page}/rotate`, { overlap: '1h', expiry: '30', nonce: 'a-nonce-of-22-letters_' })
  assert.equal((await owner.post(page, `${page}/delete`)).status, 422, 'not confirmed')
  await owner.post(page, `${page}/delete`, { confirm: 'yes' })
  const entries = await console.stores.postgres<
    { actor: string; action: string; subject: string; details: string; address: string }[]
  >`
    SELECT actor, action, subject, details, address FROM audit_log WHERE account_id = ${console.accountId} ORDER BY id`
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['created', 'disabled', 'enabled', 'expiry_changed', 'rotated', 'deleted'].map((done) => `key.${done}`),
  )
  for (const { actor, subject, details, address } of entries) {
    assert.deepEqual([actor, subject, address], [owner.email, 'Report', '127.0.0.0'])
    assert.ok(details.startsWith(`${prefix}…`), details)
  }
  assert.match(entries[3]?.details ?? '', /expires 2026-12-16T12:30Z → never expires$/)
})

test('the name of a key is text, wherever it is shown', async (t) => {
  const console = await openConsole(t, { now })
  const owner = await console.signedIn('owner')
  const name = `<img src=x onerror="alert('1')">&amp;`
  const made = await create(console, owner, { name, expiry: 'date', date: '2026-11-18' })
  const [key] = await keysOf(console)
  assert.equal(key?.name, name)
  const page = `${listOf(console)}/${key?.id}`
  for (const { text } of [
    made,
    await owner.get(listOf(console)),
    await owner.get(page),
    await owner.get('/account/keys'),
  ]) {
    assert.ok(!text.includes('<img'))
    assert.match(text, /&#60;img src=x onerror=&#34;alert\(&#39;1&#39;\)&#34;&#62;&#38;amp;/)
  }
})

test('a console that cannot know the running windows says so', async (t) => {
  const console = await openConsole(t, { limiter: undefined })
  const owner = await console.signedIn('owner')
  await create(console, owner)
  const { text } = await owner.get(listOf(console))
  assert.match(text, /known to the API process only/)
  assert.doesNotMatch(text, /0 of 5,000/)
  const other = await openConsole(t)
  const sees = await other.signedIn('owner')
  await create(other, sees)
  assert.match((await sees.get(listOf(other))).text, /0 of 5,000/)
})
