// Addresses and user agents stay in the collector's memory. Of a user agent only the families of browser and system are recorded, of an
// email address in a property nothing. Made-up people are sent through everything that can happen to a hit, and then searched for in the
// log at its most verbose level, the metrics, every response, the spool, PostgreSQL, Redis, ClickHouse and their files. And once its salt is
// deleted, nobody can compute a visitor's id again.
//   npm run check:privacy
import assert from 'node:assert/strict'
import { createSecretKey, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deleteOldSalts } from '../../../src/enrichment/salts.ts'
import { visitorIdOf } from '../../../src/enrichment/visitor.ts'
import { openPostgres, type Postgres } from '../../../src/stores/postgres.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { Device } from '../../../src/traffic/device.ts'
import { startCollectorProcess } from '../../support/collector-process.ts'
import { eventually } from '../../support/eventually.ts'
import { startOwnRedis } from '../../support/own-servers.ts'
import { clickhouseText, postgresText, redisText } from '../canary/places.ts'
import { install } from '../collect/installation.ts'
import { type Check, pause, runCheck } from '../runner.ts'
import { bytesOf, makePeople, type Person, tracesOf } from './people.ts'

await runCheck({ name: 'privacy', options: {}, seconds: () => 300 }, async (check) => {
  const installation = await install(check)
  const redis = await startOwnRedis('--slowlog-log-slower-than', '0', '--slowlog-max-len', '100000')
  check.onEnd(redis.remove)
  const postgres = openPostgres(installation.addresses.postgres, 2)
  check.onEnd(() => postgres.end({ timeout: 1 }))
  const collector = await startCollectorProcess(
    { ...installation.addresses, redis: redis.url },
    { spoolFolder: installation.spoolFolder, environment: { LOG_LEVEL: 'trace' } },
  )
  check.onEnd(() => collector.kill())
  const site = await installation.newSite()
  const people = makePeople()
  const newPlant = () => `plant${randomUUID().replaceAll('-', '')}`
  const plants = { path: newPlant(), campaign: newPlant(), property: newPlant() }
  const page = { n: 'pageview', u: `https://${site.domain}/?utm_campaign=${plants.campaign}`, d: site.domain }
  const responses: string[] = []

  async function send(person: Person, body: unknown, headers: Record<string, string> = {}, query = '?debug=1') {
    const sent = { 'X-Forwarded-For': person.ip, 'User-Agent': person.userAgent, ...headers }
    const response = await collector.post(body, sent, query)
    responses.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`)
    return response.status
  }

  /** Sends hits that are accepted, dropped for every possible reason, refused, and unreadable. */
  async function sendAll(person: Person): Promise<void> {
    await send(person, page)
    await send(person, [page, { ...page, n: 'Signup', id: randomUUID() }], {}, '')
    await send(person, { ...page, u: `https://${site.domain}/${plants.path}` })
    const order = { ...page, n: 'Order', revenue: { amount: '19.90', currency: 'EUR' } }
    await send(person, {
      ...order,
      props: { plan: plants.property, email: person.email, link: `mailto:${person.email}` },
    })
    // Without ?debug=1, which would repeat the key to its sender.
    await send(
      person,
      { ...order, revenue: person.email, p: `{"${person.email}":1,"email":"${person.email}"}` },
      {},
      '',
    )
    await send(person, { ...page, u: 'https://elsewhere.example/' })
    await send(person, { ...page, d: `${randomUUID()}.example` })
    await send(person, { ...page, n: '' })
    await send(person, page, { 'User-Agent': `${person.userAgent} Googlebot/2.1` })
    await send(person, page, { 'X-Forwarded-For': `rubbish, ${person.ip}, 127.0.0.1` })
    await send(person, page, { Forwarded: `for="${person.ip}"`, 'X-Real-IP': person.ip, Via: person.userAgent })
    await send(person, '{"n":')
    await send(person, 'x'.repeat(70_000))
    await fetch(`${collector.url}/api/event`, {
      headers: { 'X-Forwarded-For': person.ip, 'User-Agent': person.userAgent },
    })
    await fetch(`${collector.url}/nothing`, {
      headers: { 'X-Forwarded-For': person.ip, 'User-Agent': person.userAgent },
    })
  }

  const times = 4
  for (const person of people) await sendAll(person)
  check.say('Redis, then ClickHouse, are down')
  await redis.kill()
  for (const person of people) await sendAll(person)
  await redis.start()
  await installation.killClickHouse()
  for (const person of people) await sendAll(person)
  const spooled = folderText(installation.spoolFolder)
  await installation.startClickHouseServer()
  await pause(1_000)
  for (const person of people) await sendAll(person)
  const redisBefore = await redisText(redis.url)
  const stored = await eventually(async () => {
    const rows = await installation.ask(
      `SELECT visitor_id, any(country), any(device), toString(any(day)) FROM events WHERE site_id = '${site.id}' GROUP BY visitor_id`,
    )
    if (rows.length < people.length) throw new Error(`Only ${rows.length} visitors are in ClickHouse`)
    return rows
  }, 60_000)
  // Each time one order with a revenue and two email addresses, and one with an email address.
  const expected = people.map(({ browser, os }) => [browser, os, times * 1990, times * 2, times * 1].join(' ')).sort()
  await eventually(async () => {
    const rows = await installation.ask(
      `SELECT browser, os, sum(revenue), countIf(props['email'] = '(removed)'), countIf(props['link'] = '(removed)')
       FROM events WHERE site_id = '${site.id}' GROUP BY browser, os`,
    )
    assert.deepEqual(rows.map((row) => row.join(' ')).sort(), expected)
  }, 30_000).catch((error: Error) => check.fault('browser, system, revenue and removed addresses', error.message))
  const metrics = await (await fetch(collector.metricsUrl)).text()
  await collector.stop()

  const places: Record<string, string> = {
    'the log': collector.log(),
    metrics,
    responses: responses.join('\n'),
    'the spool while ClickHouse was down': spooled,
    'the spool': folderText(installation.spoolFolder),
    PostgreSQL: await postgresText(postgres),
    Redis: `${redisBefore}\n${await redisText(redis.url)}`,
    ClickHouse: await clickhouseText(installation.addresses.clickhouse),
    'files of spool and ClickHouse': folderText(join(installation.spoolFolder, '..')),
  }
  let hits = 0
  for (const [place, text] of Object.entries(places)) {
    for (const person of people) {
      const raw = bytesOf(person)
      const traces = tracesOf(person, text)
      if (raw && text.includes(raw.toString('latin1'))) traces.push('address, as bytes')
      for (const trace of traces) check.fault(`found in ${place}`, `${person.name}: ${trace}`)
      hits += traces.length
    }
  }
  // Proves the search itself: it must find text that is stored on purpose.
  for (const place of ['the spool while ClickHouse was down', 'ClickHouse']) {
    for (const [what, plant] of Object.entries(plants)) {
      if (!places[place]?.includes(plant))
        check.fault('the search', `the plant in the ${what} was not found in ${place}`)
    }
  }
  if (!places.Redis?.includes(plants.campaign))
    check.fault('the search', 'the plant in the campaign was not found in Redis')
  for (const person of people) {
    const { ip, userAgent, email, marks } = person
    const found = new Set(
      tracesOf(person, JSON.stringify({ ip, userAgent, email })).map((trace) => trace.split(',')[0]),
    )
    for (const what of [...Object.keys(marks), 'email', 'address']) {
      if (!found.has(what)) check.fault('the search', `${person.name}: ${what} would not be found`)
    }
  }
  const bytes = Object.fromEntries(Object.entries(places).map(([place, text]) => [place, text.length]))
  return {
    people: people.length,
    requests: responses.length,
    hits,
    bytes,
    ...(await proveSalts(check, postgres, site.id, people, stored)),
  }
})

/** With the salt, the address and the user agent anybody can compute the id; without the salt nobody can. */
async function proveSalts(
  check: Check,
  postgres: Postgres,
  siteId: string,
  people: readonly Person[],
  stored: readonly string[][],
): Promise<{ idsMadeWithSalt: number; idsMadeWithout: number }> {
  const made = async () => {
    const salts = await postgres<{ salt: Buffer }[]>`SELECT salt FROM salts`
    return people.filter(({ ip, userAgent }) =>
      stored.some(([id, country, device]) =>
        salts.some(({ salt }) => {
          const event = { siteId, country: country as CountryCode, device: device as Device }
          return visitorIdOf(createSecretKey(salt), event, { ip: ip.replace('::ffff:', ''), userAgent }) === id
        }),
      ),
    ).length
  }
  const idsMadeWithSalt = await made()
  if (idsMadeWithSalt !== people.length)
    check.fault('salts', `only ${idsMadeWithSalt} ids could be computed with the salt`)
  const later = Date.now() + 5 * 24 * 3_600_000
  await deleteOldSalts(postgres, later, async () => later)
  const idsMadeWithout = await made()
  const [left] = await postgres<{ salts: number }[]>`SELECT count(*)::int AS salts FROM salts`
  if (idsMadeWithout !== 0 || left?.salts !== 0) check.fault('salts', 'ids can be computed five days later')
  return { idsMadeWithSalt, idsMadeWithout }
}

/** The bytes of every file below a folder. */
function folderText(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}
