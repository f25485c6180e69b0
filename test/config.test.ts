import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig, variables } from '../src/config.ts'

const secret = 'x'.repeat(32)
const least = { KEY_SECRETS: `1:${secret}` }

function faultsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
}

test('with only the secrets set, everything else has its default', () => {
  assert.deepEqual(readConfig(least), {
    DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/footfall',
    CLICKHOUSE_URL: 'http://footfall:footfall@127.0.0.1:8123/footfall',
    CLICKHOUSE_SHARDS: undefined,
    REDIS_URL: undefined,
    KEY_SECRETS: [{ version: 1, secret: Buffer.from(secret) }],
    API_PROCESSES: 1,
    HOST: '127.0.0.1',
    PORT: 8080,
    PUBLIC_URL: undefined,
    SMTP_URL: undefined,
    MAIL_FROM: undefined,
    WEBHOOK_ALLOW_PRIVATE: undefined,
    MCP_ORIGINS: undefined,
    OIDC_ISSUER: undefined,
    OIDC_CLIENT_ID: undefined,
    OIDC_CLIENT_SECRET: undefined,
    OIDC_DOMAIN: undefined,
    OIDC_ACCOUNT: undefined,
    CONSOLE_HOST: '127.0.0.1',
    CONSOLE_PORT: 8082,
    CONSOLE_METRICS_PORT: 9290,
    METRICS_HOST: '127.0.0.1',
    METRICS_PORT: 9390,
    RESPONSE_CACHE_MB: 64,
    UPLOAD_MAX_MB: 500,
    RETENTION_MONTHS: undefined,
    COLLECTOR_HOST: '127.0.0.1',
    COLLECTOR_PORT: 8081,
    COLLECTOR_METRICS_PORT: 9190,
    SPOOL_FOLDER: '.footfall/spool',
    SPOOL_MAX_BYTES: 4_294_967_296,
    TRUSTED_PROXIES: ['127.0.0.1', '::1'],
    EVENTS_PER_SECOND_PER_ADDRESS: 50,
    EVENTS_PER_SECOND_PER_SITE: 2_000,
    CONNECTIONS_PER_ADDRESS: 250,
    COUNTRY_FILE: undefined,
    BACKUP_FOLDER: undefined,
    BACKUP_HOUR: 3,
    BACKUP_KEEP: { days: 7, weeks: 4, months: 12 },
    DRAIN_SECONDS: 3,
    LOG_LEVEL: 'info',
    FOOTFALL_EXPLAIN: false,
  })
})

test('every default passes its own check', () => {
  for (const [name, { default: text, parse }] of Object.entries<{ default?: string; parse(text: string): unknown }>(
    variables,
  )) {
    if (text !== undefined) assert.doesNotThrow(() => parse(text), name)
  }
})

test('trusted proxies may only be addresses and networks', () => {
  const read = (text: string) => readConfig({ ...least, TRUSTED_PROXIES: text }).TRUSTED_PROXIES
  assert.deepEqual(read('10.0.0.0/8, 2001:db8::/32,192.0.2.1'), ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'])
  for (const wrong of [
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '2001:db8::/129',
    '10.0.0',
    'x,10.0.0.1',
  ]) {
    assert.deepEqual(faultsOf({ ...least, TRUSTED_PROXIES: wrong }), [
      'TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8',
    ])
  }
  for (const wrong of ['-1', '1.5', 'many', '1e3']) {
    assert.deepEqual(faultsOf({ ...least, EVENTS_PER_SECOND_PER_SITE: wrong }), [
      'EVENTS_PER_SECOND_PER_SITE must be a whole number; 0 means no limit',
    ])
  }
  for (const wrong of ['4 GB', '1000', '-1', '1e9']) {
    assert.deepEqual(faultsOf({ ...least, SPOOL_MAX_BYTES: wrong }), [
      'SPOOL_MAX_BYTES must be a number of bytes, at least 1000000',
    ])
  }
})

test('origins are written as browsers send them', () => {
  const read = (text: string) => readConfig({ ...least, MCP_ORIGINS: text }).MCP_ORIGINS
  assert.deepEqual(read('https://a.example, http://localhost:6274'), ['https://a.example', 'http://localhost:6274'])
  for (const wrong of ['*', 'null', 'a.example', 'https://a.example/', 'https://a.example/x', 'https://a.example,']) {
    assert.deepEqual(faultsOf({ ...least, MCP_ORIGINS: wrong }), [
      'MCP_ORIGINS must be origins such as https://assistant.example, separated by commas',
    ])
  }
})

test('retention is at least 25 months, so that 12m can always be compared with the year before', () => {
  assert.equal(readConfig({ ...least, RETENTION_MONTHS: '25' }).RETENTION_MONTHS, 25)
  for (const wrong of ['24', '0', '-30', '30.5', '25 months', '99999', '025']) {
    assert.deepEqual(faultsOf({ ...least, RETENTION_MONTHS: wrong }), [
      'RETENTION_MONTHS must be a whole number of months, 25 to 9999, because the range 12m is compared with the year before it; leave it unset to keep all events',
    ])
  }
})

test('every bad variable is reported at once, and a missing one with its purpose', () => {
  const wrong = {
    DATABASE_URL: 'mysql://here',
    CLICKHOUSE_URL: '127.0.0.1:8123',
    REDIS_URL: 'http://here',
    PORT: 'eighty',
    METRICS_PORT: '65536',
    LOG_LEVEL: 'loud',
  }
  assert.deepEqual(faultsOf(wrong), [
    'DATABASE_URL must be an address that begins with postgres:// or postgresql://',
    'CLICKHOUSE_URL must be an address that begins with http:// or https://',
    'REDIS_URL must be an address that begins with redis:// or rediss://',
    `KEY_SECRETS is required: ${variables.KEY_SECRETS.description}`,
    'PORT must be a port number, 0 to 65535',
    'METRICS_PORT must be a port number, 0 to 65535',
    'LOG_LEVEL must be one of trace, debug, info, warn, error, silent',
  ])
})

test('an empty variable counts as unset', () => {
  assert.equal(readConfig({ ...least, PORT: '', REDIS_URL: '', HOST: '' }).PORT, 8080)
  assert.match(faultsOf({ KEY_SECRETS: '' })[0] ?? '', /^KEY_SECRETS is required/)
})

test('secrets keep their order, each version occurs once, with 32 characters or more', () => {
  const longer = 'a longer secret: with, a colon'.replace(',', ' ').padEnd(40, '.')
  const { KEY_SECRETS } = readConfig({ KEY_SECRETS: `2:${longer}, 1:${secret}` })
  assert.deepEqual(KEY_SECRETS, [
    { version: 2, secret: Buffer.from(longer) },
    { version: 1, secret: Buffer.from(secret) },
  ])
  const pairs = 'KEY_SECRETS must be version:secret pairs with secrets of at least 32 characters'
  for (const text of [
    secret,
    `1:${'x'.repeat(31)}`,
    `:${secret}`,
    `a:${secret}`,
    `1:${secret},`,
    `1:${secret},2:short`,
  ]) {
    assert.deepEqual(faultsOf({ KEY_SECRETS: text }), [pairs], text)
  }
  assert.deepEqual(faultsOf({ KEY_SECRETS: `1:${secret},1:${longer}` }), ['KEY_SECRETS names a version twice'])
})

test('mail is set as a whole or not at all, and demands TLS unless the server is this machine', () => {
  const mail = { SMTP_URL: 'smtp://me:p%40ss@mail.example.com', MAIL_FROM: 'Stats <stats@example.com>' }
  const at = (address: string) =>
    readConfig({ ...least, ...mail, SMTP_URL: address, PUBLIC_URL: 'https://stats.example.com' }).SMTP_URL
  assert.deepEqual(at(mail.SMTP_URL), {
    host: 'mail.example.com',
    port: 587,
    isSecure: false,
    needsTls: true,
    user: 'me',
    password: 'p@ss',
  })
  assert.deepEqual([at('smtps://mail.example.com')?.port, at('smtps://mail.example.com')?.isSecure], [465, true])
  const unencrypted = ['smtp://localhost:25', 'smtp://[::1]:25', 'smtp://127.0.1.1', 'smtp://mail.example.com?tls=off']
  for (const address of unencrypted) assert.equal(at(address)?.needsTls, false, address)
  for (const address of ['smtp://localhost.example.com', 'smtp://127.0.0.1.example.com', 'smtp://10.0.0.1'])
    assert.equal(at(address)?.needsTls, true, address)
  assert.deepEqual(faultsOf({ ...least, SMTP_URL: mail.SMTP_URL }), [
    'MAIL_FROM is missing: SMTP_URL needs it',
    'SMTP_URL needs PUBLIC_URL: mails contain links to Footfall',
  ])
  for (const wrong of [
    'mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://mail.example.com?tls=no',
    'smtp://mail.example.com/x',
  ])
    assert.equal(
      faultsOf({ ...least, ...mail, SMTP_URL: wrong, PUBLIC_URL: 'https://stats.example.com' }).length,
      1,
      wrong,
    )
  for (const wrong of ['stats', 'a@b@c', 'Stats stats@example.com', 'x\r\nBcc: a@b.c <stats@example.com>'])
    assert.equal(
      faultsOf({ ...least, ...mail, MAIL_FROM: wrong, PUBLIC_URL: 'https://stats.example.com' }).length,
      1,
      wrong,
    )
})

test('single sign-on is set as a whole or not at all', () => {
  const provider = {
    OIDC_ISSUER: 'https://login.example.com/realms/main',
    OIDC_CLIENT_ID: 'footfall',
    OIDC_CLIENT_SECRET: 'secret',
  }
  const joining = { OIDC_DOMAIN: 'Example.com', OIDC_ACCOUNT: 'acct_aaaaaaaaaaaaaaaa' }
  const read = readConfig({ ...least, ...provider, ...joining })
  assert.deepEqual([read.OIDC_ISSUER, read.OIDC_DOMAIN], [provider.OIDC_ISSUER, 'example.com'])
  assert.deepEqual(faultsOf({ ...least, OIDC_CLIENT_ID: 'footfall' }), [
    'OIDC_ISSUER is missing: OIDC_CLIENT_ID needs it',
    'OIDC_CLIENT_SECRET is missing: OIDC_CLIENT_ID needs it',
  ])
  assert.deepEqual(faultsOf({ ...least, ...provider, OIDC_DOMAIN: 'example.com' }), [
    'OIDC_ACCOUNT is missing: OIDC_DOMAIN needs it',
  ])
  assert.deepEqual(faultsOf({ ...least, ...joining }), [
    'OIDC_DOMAIN needs OIDC_ISSUER: people of the domain sign in there',
  ])
  for (const OIDC_DOMAIN of ['@example.com', '*.example.com', 'example', 'example.com,example.org']) {
    assert.deepEqual(faultsOf({ ...least, ...provider, ...joining, OIDC_DOMAIN }), [
      'OIDC_DOMAIN must be a domain such as example.com',
    ])
  }
})

test('only an issuer on this machine may do without https', () => {
  const faults = (OIDC_ISSUER: string) =>
    faultsOf({ ...least, OIDC_ISSUER, OIDC_CLIENT_ID: 'footfall', OIDC_CLIENT_SECRET: 'secret' })
  for (const good of ['https://login.example.com', 'http://localhost:9000', 'http://127.0.0.1:9000/a']) {
    assert.deepEqual(faults(good), [], good)
  }
  for (const wrong of [
    'http://login.example.com',
    'http://localhost.example.com',
    'login.example.com',
    'ftp://localhost',
  ]) {
    assert.deepEqual(
      faults(wrong),
      ['OIDC_ISSUER must be an address that begins with https://, or http://localhost'],
      wrong,
    )
  }
})

test('ports are whole numbers', () => {
  for (const PORT of ['-1', '1.5', '0x50', '8080 ', '1e3', '99999', '000080']) {
    assert.deepEqual(faultsOf({ ...least, PORT }), ['PORT must be a port number, 0 to 65535'], PORT)
  }
  assert.deepEqual(
    [readConfig({ ...least, PORT: '0' }).PORT, readConfig({ ...least, PORT: '65535' }).PORT],
    [0, 65_535],
  )
})

test('no error repeats a value, because it might be a password', () => {
  const environment = {
    DATABASE_URL: 'mysql://user:hunter2@here',
    KEY_SECRETS: 'hunter2',
    REDIS_URL: 'hunter2',
    PORT: 'hunter2',
    OIDC_CLIENT_SECRET: 'hunter2',
  }
  assert.equal(faultsOf(environment).length, 6)
  assert.doesNotMatch(faultsOf(environment).join(), /hunter2/)
})

test('CLICKHOUSE_SHARDS is a list of shards, each a list of addresses', () => {
  const read = (text: string) => readConfig({ ...least, CLICKHOUSE_SHARDS: text }).CLICKHOUSE_SHARDS
  const two = [['http://one/footfall', 'http://other/footfall'], ['https://two/footfall']]
  assert.deepEqual(read(JSON.stringify(two)), two)
  for (const wrong of ['x', '{}', '[]', '[[]]', '["http://one"]', '[["ftp://one"]]', '[[1]]'])
    assert.throws(() => read(wrong), /CLICKHOUSE_SHARDS must be/, wrong)
})
