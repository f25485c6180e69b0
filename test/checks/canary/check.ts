// Sends secrets in requests that succeed, are refused, fail or cannot be read. Then searches for them everywhere: the log at its
// most verbose level, metrics, every response, PostgreSQL, Redis, ClickHouse. None may be found in any encoding.
//   npm run check:canary
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey, type KeySecrets, setKeyDisabled } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { eventOf, pageview } from '../../support/events.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { inherited } from '../../support/inherited.ts'
import { startOwnRedis } from '../../support/own-servers.ts'
import { seeded } from '../../support/random.ts'
import { connect, createStores, disconnect, type Stores } from '../../support/stores.ts'
import { keyText } from '../fuzz/accounts.ts'
import { type Check, pause, runCheck } from '../runner.ts'
import { lettersWith, questionsWith } from './letters.ts'
import { runPeople } from './people.ts'
import { clickhouseText, postgresText, redisText } from './places.ts'
import { findIn, type Secret, writtenForms } from './secrets.ts'

/** Concurrent requests: enough to be quick, few enough not to be late. */
const together = 12

await runCheck({ name: 'canary', options: {}, seconds: () => 480 }, async (check) => {
  const created = await createStores()
  check.onEnd(created.remove)
  const stores = connect(created.addresses)
  check.onEnd(() => disconnect(stores))
  const random = seeded(`${check.seed}/canary`)
  const canary = (name: string): Secret => ({ name, text: `canary${randomBytes(18).toString('hex')}` })
  const [current, older] = [canary('current key secret'), canary('older key secret')]
  const [databasePassword, redisPassword] = [canary('PostgreSQL password'), canary('Redis password')]
  const keySecrets: KeySecrets = [
    { version: 2, secret: Buffer.from(current.text) },
    { version: 1, secret: Buffer.from(older.text) },
  ]
  const keys = await makeKeys(stores, keySecrets)
  const unknown = [
    { name: 'unknown key', text: keyText(random, 's') },
    { name: 'mistyped key', text: `${keyText(random, 'a').slice(0, -1)}-` },
  ]

  const redis = await startOwnRedis(
    ...['--requirepass', redisPassword.text, '--slowlog-log-slower-than', '0', '--slowlog-max-len', '100000'],
  )
  check.onEnd(redis.remove)
  const redisUrl = `redis://:${redisPassword.text}@127.0.0.1:${redis.port}`
  const [clickhouseServer, database] = [
    await proxyOf(check, created.addresses.clickhouse),
    await proxyOf(check, created.addresses.postgres),
  ]
  const api = await startApiProcess(
    {
      clickhouse: clickhouseServer.url,
      postgres: Object.assign(new URL(database.url), { password: databasePassword.text }).href,
      redis: redisUrl,
    },
    { LOG_LEVEL: 'trace', KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(',') },
  )
  check.onEnd(api.stop)

  const places = async (): Promise<Record<string, string>> => ({
    PostgreSQL: await postgresText(stores.postgres),
    Redis: await redisText(redisUrl),
    ClickHouse: await clickhouseText(created.addresses.clickhouse),
  })
  await provePlantsAreFound(check, stores, redisUrl, places)

  const port = Number(new URL(api.url).port)
  const secrets = [...keys.all, ...unknown, current, older, databasePassword, redisPassword]
  const good = keys.all[0] as Secret
  const responses: string[] = []
  const statuses: Record<string, number> = {}
  let sent = 0
  async function sendAll(phase: string): Promise<void> {
    const written = (write: typeof lettersWith) =>
      secrets.flatMap((secret) => write(secret.text, good.text, encodeURIComponent(phase)))
    const repeated = new Set(written(questionsWith))
    const letters = [...written(lettersWith), ...repeated].values()
    const failuresBefore = statuses['500'] ?? 0
    await Promise.all(
      Array.from({ length: together }, async () => {
        for (const letter of letters) {
          const answer = await send(port, letter)
          const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none'
          statuses[status] = (statuses[status] ?? 0) + 1
          sent++
          if (!repeated.has(letter)) responses.push(answer)
        }
      }),
    )
    const failures = (statuses['500'] ?? 0) - failuresBefore
    check.say(`${phase}: ${sent} responses so far, ${failures} of these 500`)
    if (phase.endsWith('fails') && failures === 0) check.fault('nothing failed', phase)
  }

  await sendAll('everything works')
  const redisBefore = await redisText(redisUrl)
  clickhouseServer.proxy.setFault({ reset: true })
  await sendAll('ClickHouse fails')
  clickhouseServer.proxy.setFault({})
  database.proxy.setFault({ reset: true })
  await sendAll('PostgreSQL fails')
  database.proxy.setFault({})
  await redis.kill()
  await sendAll('Redis is down')
  await redis.start()
  await pause(1_500)
  await sendAll('everything works again')
  if (!statuses['200'] || !statuses['401'] || !statuses['400'] || !statuses['403'])
    check.fault('coverage', JSON.stringify(statuses))

  await hashesAreNoKeys(check, stores, port)
  const people = await runPeople(
    check,
    stores,
    {
      CLICKHOUSE_URL: clickhouseServer.url,
      DATABASE_URL: Object.assign(new URL(database.url), { password: databasePassword.text }).href,
      REDIS_URL: redisUrl,
      KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
    },
    (isBroken) => database.proxy.setFault(isBroken ? { reset: true } : {}),
  )
  secrets.push(...people.secrets)
  const metrics = await (await fetch(api.metricsUrl)).text()
  await api.stop()
  const all: Record<string, string> = {
    ...(await places()),
    'Redis before the kill': redisBefore,
    'the log': api.log(),
    metrics,
    responses: responses.join('\n'),
    'the log of the console': people.log,
    'responses of the console': people.responses.join('\n'),
    'a start that failed': await startThatFails([current, databasePassword, redisPassword]),
  }
  if (!all['the log']?.includes('request failed')) check.fault('nothing was logged', 'no failed request in the log')
  for (const [place, haystack] of Object.entries(all)) {
    for (const secret of secrets) {
      for (const { form, around } of findIn(haystack, secret))
        check.fault(`found in ${place}`, `${secret.name}, ${form}`, around)
    }
  }
  const bytes = Object.fromEntries(Object.entries(all).map(([place, haystack]) => [place, haystack.length]))
  return {
    secrets: secrets.length,
    requests: sent,
    consoleRequests: people.responses.length,
    statuses,
    searchedBytes: bytes,
    logLines: all['the log']?.split('\n').length,
  }
})

async function makeKeys({ postgres, clickhouse }: Stores, keySecrets: KeySecrets) {
  const accountId = await createAccount(postgres, { name: 'Canary', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'canary.example' })
  const freeId = await createAccount(postgres, { name: 'Free', plan: 'Free' })
  const events = [
    eventOf(pageview({ at: new Date(Date.now() - 60_000).toISOString(), title: 'A page' }), siteId, 'UTC'),
  ]
  await recordBatch(clickhouse, { id: crypto.randomUUID(), events })
  const make = (name: string, more: { accountId?: string; siteId?: string; expiresAt?: Date }, secrets = keySecrets) =>
    createKey(postgres, secrets, { accountId, name, ...more }).then((key) => ({ ...key, name }))
  const disabled = await make('disabled key', { siteId })
  await setKeyDisabled(postgres, disabled.id, true)
  const all: Secret[] = [
    await make('site key', { siteId }),
    await make('account key', {}),
    await make('key of the older secret', { siteId }, [keySecrets[1] as KeySecrets[0]]),
    await make('expired key', { siteId, expiresAt: new Date(Date.now() - 1000) }),
    await make('key without a plan', { accountId: freeId }),
    disabled,
  ]
  return { all }
}

async function proxyOf(check: Check, address: string) {
  const proxy = await startFaultProxy({ port: Number(new URL(address).port) })
  check.onEnd(proxy.close)
  return { proxy, url: Object.assign(new URL(address), { port: `${proxy.port}` }).href }
}

/** Proves the search itself: it must find a planted secret in every place and every form. */
async function provePlantsAreFound(
  check: Check,
  stores: Stores,
  redisUrl: string,
  places: () => Promise<Record<string, string>>,
) {
  const plant: Secret = { name: 'plant', text: `ff_s_${randomBytes(18).toString('hex')}` }
  const { createClient } = await import('@redis/client')
  const client = await createClient({ url: redisUrl }).connect()
  const empty = await places()
  for (const [place, haystack] of Object.entries(empty)) {
    if (findIn(haystack, plant).length > 0) check.fault('a plant was found before it was planted', place)
  }
  const accountIds: string[] = []
  for (const form of Object.values(writtenForms(plant))) {
    accountIds.push(await createAccount(stores.postgres, { name: form, plan: 'Free' }))
    await client.set(`footfall:plant:${accountIds.length}`, form)
    const event = eventOf(
      pageview({ at: '2024-01-01T00:00:00Z', pathname: `/${form}`, title: form }),
      'site_plant',
      'UTC',
    )
    await recordBatch(stores.clickhouse, { id: crypto.randomUUID(), events: [event] })
  }
  for (const [place, haystack] of Object.entries(await places())) {
    const found = findIn(haystack, plant).map(({ form }) => form)
    for (const form of Object.keys(writtenForms(plant))) {
      if (!found.includes(form)) check.fault('a plant was not found', `${form} in ${place}`)
    }
  }
  for (const id of accountIds) await stores.postgres`DELETE FROM accounts WHERE id = ${id}`
  for (let at = 1; at <= accountIds.length; at++) await client.del(`footfall:plant:${at}`)
  client.destroy()
}

/** The hashes in the keys table cannot be used to log in. */
async function hashesAreNoKeys(check: Check, { postgres }: Stores, port: number): Promise<void> {
  const rows = await postgres<{ hash: Buffer; prefix: string }[]>`SELECT hash, prefix FROM api_keys`
  for (const { hash, prefix } of rows) {
    const texts = [
      hash.toString('hex'),
      hash.toString('base64'),
      hash.toString('base64url'),
      hash.toString('latin1'),
      prefix,
    ]
    for (const one of [...texts, ...texts.map((text) => `ff_s_${text}`), ...texts.map((text) => prefix + text)]) {
      const answer = await send(
        port,
        `GET /api/v1/stats/overview HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${one}\r\n\r\n`,
      )
      // A hash with a control character is not even valid HTTP.
      if (!/^HTTP\/1\.1 40[01] /.test(answer)) check.fault('a hash was accepted as a key', answer.slice(0, 200))
    }
  }
  if (rows.length === 0) check.fault('no hashes', 'the keys table is empty')
}

async function send(port: number, letter: string): Promise<string> {
  const socket = connectTo({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.setTimeout(10_000, () => socket.destroy())
  socket.write(letter, 'latin1')
  const answer = await text(socket).catch(() => '')
  socket.destroy()
  return answer
}

/** The output of a process with an invalid configuration. */
async function startThatFails([secret, password, other]: Secret[]): Promise<string> {
  const child = spawn(process.execPath, [new URL('../../../src/api/main.ts', import.meta.url).pathname], {
    env: {
      ...inherited,
      KEY_SECRETS: `1:${secret?.text.slice(0, 20)}`,
      DATABASE_URL: `mysql://root:${password?.text}@127.0.0.1/x`,
      REDIS_URL: `http://:${other?.text}@127.0.0.1`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (!complaint.includes('KEY_SECRETS'))
    throw new Error(`The process did not report its invalid configuration: ${complaint}`)
  return out + complaint
}
