import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { newKeyText } from '../../src/accounts/key-text.ts'
import { loadTasks } from '../../src/cli/commands.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'

let footfall: Installation['footfall']
let json: Installation['json']
let installation: Installation
before(async () => {
  installation = await install()
  ;({ footfall, json } = installation)
})
after(() => installation.remove())

test('the first site creates its account with the Agency plan; a second account must be named', async () => {
  const site = await json('site', 'create', 'First.example', '--timezone', 'Europe/Berlin')
  assert.match(site.id, /^site_[a-z2-7]{16}$/)
  assert.equal(site.domain, 'first.example')
  const [account] = await json('account', 'list')
  assert.deepEqual([account.id, account.plan, account.sites], [site.accountId, 'Agency', 1])

  const other = await json('account', 'create', 'Other', '--plan', 'starter')
  assert.equal(other.plan, 'Starter')
  const unnamed = await footfall('site', 'create', 'second.example')
  assert.deepEqual([unnamed.code, unnamed.stdout], [1, ''])
  assert.match(unnamed.stderr, /several accounts\.\n {2}Name one of them.*--account/)
  const second = await json('site', 'create', 'second.example', '--account', other.id)
  assert.equal(second.accountId, other.id)
})

test('settings of a site are changed by its domain, and the error for a wrong value names the right ones', {
  timeout: 600_000,
}, async () => {
  const { id } = await json('site', 'create', 'settings.example', '--account', (await json('account', 'list'))[0].id)
  assert.deepEqual(await json('site', 'exclude-countries', 'settings.example', 'de', 'FR'), {
    id,
    excludedCountries: ['DE', 'FR'],
  })
  assert.deepEqual(await json('site', 'timezone', 'settings.example', 'Asia/Kathmandu'), {
    id,
    timeZone: 'Asia/Kathmandu',
  })
  assert.deepEqual(
    await json('site', 'hostnames', 'settings.example', 'Settings.example,shop.example', '--subdomains'),
    {
      id,
      hostnames: ['settings.example', 'shop.example'],
      allowSubdomains: true,
    },
  )
  assert.match((await footfall('site', 'show', id)).stdout, /settings\.example, shop\.example and their subdomains/)
  await json('site', 'hostnames', 'settings.example', 'shop.example')
  const { hostnames, allowSubdomains } = await json('site', 'show', id)
  assert.deepEqual([hostnames, allowSubdomains], [['shop.example'], false])
  assert.deepEqual((await json('site', 'show', id)).excludedCountries, ['DE', 'FR'])
  assert.match((await footfall('site', 'exclude-countries', id)).stdout, /now counts every country/)
  for (const [words, hint] of [
    [['site', 'exclude-countries', id, 'XX'], /XX is not a country code/],
    [['site', 'timezone', id, 'Mars/Olympus'], /IANA name/],
    [['site', 'hostnames', id, 'https://example.com:8443/'], /is not a domain.*without port/s],
    [['site', 'create', 'exa mple.com'], /is not a domain.*such as example\.com/s],
    [['site', 'show', 'nowhere.example'], /footfall site list/],
    [['site', 'create', 'settings.example'], /already exists/],
    [['account', 'plan', 'acct_x', 'Gold'], /Free, Starter, Growth, Scale, Agency/],
    [['key', 'create', id, '--expires', 'soon'], /2027-01-31/],
    [['key', 'create', id, '--account', 'any'], /a key reads a site or --account <id>, not both/i],
    [['key', 'create'], /name a site or --account <id>/i],
    [['site', 'create', 'a.example', '--colour', 'red'], /footfall site create --help/],
    [['sute'], /footfall help/],
  ] as const) {
    const { code, stderr, stdout } = await footfall(...words)
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, hint)
    assert.equal(stdout, '')
  }
})

test('the script tag of a site has its domain, a public URL, and by default the integrity hash', async () => {
  await json('site', 'create', 'tagged.example', '--account', (await json('account', 'list'))[0].id)
  const asked = ['site', 'snippet', 'tagged.example', '--url', 'https://stats.example.com/'] as const
  const { tag } = await json(...asked)
  const [, integrity] = / integrity="(sha384-[A-Za-z0-9+/]{64})" /.exec(tag) ?? []
  assert.equal(
    tag,
    `<script defer src="https://stats.example.com/js/footfall-3.js" data-site="tagged.example" integrity="${integrity}" crossorigin="anonymous"></script>`,
  )
  assert.equal((await footfall(...asked)).stdout, `${tag}\n`)
  assert.equal(
    (await json(...asked, '--latest')).tag,
    '<script defer src="https://stats.example.com/js/footfall.js" data-site="tagged.example"></script>',
  )
  const wrong = await footfall('site', 'snippet', 'tagged.example', '--url', 'stats.example.com')
  assert.match(wrong.stderr, /Write it with https:/)
})

test('a key is shown once, and then only by its prefix; its state follows the commands', {
  timeout: 600_000,
}, async () => {
  const { id, key } = await json('key', 'create', 'first.example', '--name', 'dashboard')
  assert.match(key, /^ff_s_[0-9A-Za-z]{36}$/)
  const list = await footfall('key', 'list')
  assert.ok(!list.stdout.includes(key) && list.stdout.includes(key.slice(0, 9)))
  const stateOf = async () =>
    (await json('key', 'list', 'first.example')).find((one: { id: string }) => one.id === id).state
  assert.equal(await stateOf(), 'active')
  await json('key', 'disable', id)
  assert.equal(await stateOf(), 'disabled')
  await json('key', 'enable', key) // the whole text of a leaked key identifies it too
  await json('key', 'expire', id, '2020-01-01')
  assert.equal(await stateOf(), 'expired')
  await json('key', 'expire', id, 'never')
  const next = await json('key', 'rotate', id, '--overlap', '1')
  assert.notEqual(next.key, key)
  const old = (await json('key', 'list')).find((one: { id: string }) => one.id === id)
  assert.ok(Math.abs(Date.parse(old.expiresAt) - Date.now() - 3_600_000) < 60_000)
  const week = await json('key', 'rotate', next.id, '--overlap', '168')
  assert.equal((await footfall('key', 'rotate', week.id, '--overlap', '169')).code, 1)
  const lineage = (await json('key', 'list')).filter((one: { id: string }) => [next.id, week.id].includes(one.id))
  assert.deepEqual(
    lineage.map(({ rotatedFrom, createdBy }: Record<string, string>) => [rotatedFrom, createdBy]),
    [
      [id, 'command line'],
      [next.id, 'command line'],
    ],
  )
  await json('key', 'delete', id)
  assert.equal((await footfall('key', 'disable', id)).code, 1)
  assert.match((await json('key', 'create', '--account', old.accountId)).key, /^ff_a_/)
  const postgres = openPostgres(installation.addresses.postgres, 1)
  const recorded = await postgres<{ action: string }[]>`
    SELECT action FROM audit_log WHERE actor = 'command line' AND subject = 'dashboard' ORDER BY id`
  await postgres.end()
  assert.deepEqual(
    recorded.map(({ action }) => action),
    ['created', 'disabled', 'enabled', 'expiry_changed', 'expiry_changed', 'rotated', 'rotated', 'deleted'].map(
      (done) => `key.${done}`,
    ),
  )
})

test('a whole key is found by its hash, never by its prefix; several keys with one prefix are listed by id', {
  timeout: 600_000,
}, async () => {
  const [victim, other] = [await json('key', 'create', 'first.example'), await json('key', 'create', 'first.example')]
  // Among some hundred thousand keys two have the same prefix by chance, and only the first nine characters are stored for display.
  const postgres = openPostgres(installation.addresses.postgres, 1)
  await postgres`UPDATE api_keys SET prefix = ${other.key.slice(0, 9)} WHERE id = ${victim.id}`
  await postgres.end()
  const stateOf = async (id: string) => (await json('key', 'list')).find((one: { id: string }) => one.id === id)?.state

  await json('key', 'disable', other.key)
  assert.deepEqual([await stateOf(victim.id), await stateOf(other.id)], ['active', 'disabled'])
  const several = await footfall('key', 'delete', `${other.key.slice(0, 9)}…`)
  assert.equal(several.code, 1)
  for (const { id } of [victim, other]) assert.ok(several.stderr.includes(id), several.stderr)
  const changed = `${other.key.slice(0, -1)}${other.key.endsWith('0') ? '1' : '0'}`
  for (const wrong of [changed, other.key.slice(0, 20), newKeyText('site')]) {
    const { code, stderr } = await footfall('key', 'delete', wrong)
    assert.equal(code, 1)
    assert.ok(!stderr.includes(wrong), 'a key is never echoed')
  }
  await json('key', 'delete', other.key)
  assert.deepEqual([await stateOf(victim.id), await stateOf(other.id)], ['active', undefined])
})

test('a key shows its expiry date, which cannot be in the past', async () => {
  const { id } = await json('key', 'create', 'first.example', '--expires', '2099-01-31')
  const line = async () => (await footfall('key', 'list')).stdout.split('\n').find((one) => one.startsWith(id))
  assert.match((await line()) ?? '', /active until 2099-01-31/)
  await json('key', 'expire', id, '2020-01-01T12:30:00Z')
  assert.match((await line()) ?? '', /expired 2020-01-01 12:30/)
  const past = await footfall('key', 'create', 'first.example', '--expires', '2020-01-01')
  assert.deepEqual([past.code, past.stderr.split('\n')[0]], [1, 'footfall: 2020-01-01 is in the past.'])
})

test('--version is that of the package, and help is grouped by task', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.equal((await footfall('--version')).stdout, `footfall ${version}\n`)
  const { stdout } = await footfall('help')
  for (const task of Object.keys(await loadTasks())) assert.match(stdout, new RegExp(`^${task}$`, 'm'))
})

test('secret create --to writes a file that only its owner may read, and never a second secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-secret-'))
  const [fresh, open] = [join(folder, 'fresh'), join(folder, 'open')]
  writeFileSync(open, 'PORT=8080', { mode: 0o644 })
  for (const file of [fresh, open]) {
    assert.equal((await runFootfall(['secret', 'create', '--to', file], { PATH: process.env.PATH ?? '' })).code, 0)
    assert.equal((statSync(file).mode & 0o777).toString(8), '600')
    assert.match(readFileSync(file, 'utf8'), /^(PORT=8080\n)?KEY_SECRETS=1:[\w-]{43}\n$/)
    const again = await runFootfall(['secret', 'create', '--to', file], { PATH: process.env.PATH ?? '' })
    assert.deepEqual([again.code, again.stderr.split('\n')[0]], [1, `footfall: ${file} already has KEY_SECRETS.`])
  }
  rmSync(folder, { recursive: true })
})

test('secrets: the first, a new one in front of it, and how many keys use each', async () => {
  const { KEY_SECRETS } = await json('secret', 'rotate')
  const [fresh, old] = KEY_SECRETS.split(',')
  assert.match(fresh, /^2:.{32,}$/)
  assert.equal(old, installation.environment.KEY_SECRETS)
  const rotated = { ...installation.environment, KEY_SECRETS }
  const made = JSON.parse((await runFootfall(['key', 'create', 'first.example', '--json'], rotated)).stdout)
  const keys = JSON.parse((await runFootfall(['key', 'list', '--json'], rotated)).stdout)
  assert.equal(keys.find((one: { id: string }) => one.id === made.id).secretVersion, 2)
  const dropped = { ...installation.environment, KEY_SECRETS: fresh }
  assert.match((await runFootfall(['secret', 'status'], dropped)).stdout, /1 .*missing from KEY_SECRETS/)
  assert.match((await runFootfall(['secret', 'status'], rotated)).stdout, /VERSION +KEYS +SECOND FACTORS +STATE\n/)
  const nothing = await runFootfall(['secret', 'create'], { PATH: process.env.PATH ?? '' })
  assert.match(nothing.stdout, /^KEY_SECRETS=1:[\w-]{43}\n$/)
})

test('deleting a site needs --yes and deletes its keys and traffic; an empty account can be deleted', async () => {
  const account = await json('account', 'create', 'Short-lived')
  const { id } = await json('site', 'create', 'gone.example', '--account', account.id)
  await json('key', 'create', 'gone.example')
  await json('demo', 'gone.example', '--events', '10000')
  assert.match((await footfall('demo', 'gone.example')).stderr, /already has traffic.*\n.*--replace/)
  assert.equal((await footfall('account', 'delete', account.id)).code, 1)
  assert.equal((await footfall('site', 'delete', 'gone.example')).code, 1)
  const { goneBy, ...deletion } = await json('site', 'delete', 'gone.example', '--yes')
  assert.deepEqual(deletion, { id, deleted: true, erased: true })
  const days = (Date.parse(goneBy) - Date.now()) / 86_400_000
  assert.ok(days > 7.9 && days <= 8, `${days} days`)
  assert.ok(!(await json('key', 'list')).some((key: { domain: string }) => key.domain === 'gone.example'))
  assert.deepEqual(await json('account', 'delete', account.id), { id: account.id, deleted: true })
})

test('doctor finds nothing wrong here, and elsewhere says what to do', { timeout: 600_000 }, async () => {
  const findings = await json('doctor')
  assert.deepEqual(
    findings.map(({ state }: { state: string }) => state),
    Array(19).fill('ok'),
  )
  for (const [change, check, advice] of [
    [{ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/none' }, 'PostgreSQL', /DATABASE_URL/],
    [
      { CLICKHOUSE_URL: installation.environment.CLICKHOUSE_URL.replace(/\w+$/, 'nowhere') },
      'ClickHouse',
      /footfall migrate/,
    ],
    [{ REDIS_URL: 'redis://127.0.0.1:1' }, 'Redis', /REDIS_URL/],
    [
      { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'stats@example.com', PUBLIC_URL: 'https://stats.example.com' },
      'Mail',
      /SMTP_URL/,
    ],
    [{ KEY_SECRETS: 'short' }, 'Configuration', /footfall secret create/],
  ] as const) {
    const { code, stdout } = await runFootfall(['doctor', '--json'], { ...installation.environment, ...change })
    const found = JSON.parse(stdout).find((one: { check: string }) => one.check === check)
    assert.deepEqual([code, found.state], [1, 'failed'], check)
    assert.match(found.advice, advice)
    const failed = JSON.parse(stdout).filter((one: { state: string }) => one.state === 'failed')
    assert.equal(failed.length, 1, `one cause is reported once: ${stdout}`)
  }
})
