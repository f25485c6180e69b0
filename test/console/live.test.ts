// The live page and its stream over real HTTP, as a browser gets them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setExcludedCountries } from '../../src/accounts/sites.ts'
import { createStatsService } from '../../src/stats/service.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { removeMember } from '../../src/users/members.ts'
import { signOutEverywhere } from '../../src/users/sessions.ts'
import { type EventStreamReader, readEventStream } from '../support/event-stream.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { openStores } from '../support/stores.ts'
import { type ConsoleOptions, mainOf, openConsole, type Visitor } from './console.ts'
import { textOf } from './dashboard-page.ts'

const now = () => new Date(Date.now() - 500).toISOString()

async function openLive(t: TestContext, options: ConsoleOptions = {}) {
  const console = await openConsole(t, options)
  const path = `/sites/${console.domain}/live`
  const record = (...hits: Hit[]) =>
    recordBatch(console.stores.clickhouse, {
      id: randomUUID(),
      events: hits.map((hit) => eventOf(hit, console.siteId, 'UTC')),
    })
  const open: EventStreamReader[] = []
  t.after(() => {
    for (const stream of open) stream.close()
  })
  const watch = async ({ cookies }: Pick<Visitor, 'cookies'>, headers: Record<string, string> = {}) => {
    const Cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const stream = await readEventStream(`${console.url}${path}/stream`, { Cookie, ...headers })
    open.push(stream)
    return stream
  }
  return { console, path, record, watch }
}

const shows = (text: string) => (message: { data: string }) => textOf(message.data).includes(text)

test('without a script the page shows who is there, and a link to look again', async (t) => {
  const { console, path, record } = await openLive(t)
  await record(
    pageview({ at: now(), visitor: 'a', pathname: '/caf%C3%A9', country: 'DE', utmSource: 'news' }),
    custom('Signup', { at: now(), visitor: 'b', pathname: '/<b>', country: 'US' }),
  )
  const page = await (await console.signedIn('viewer')).get(path)
  assert.equal(page.status, 200)
  const main = mainOf(page)
  assert.match(textOf(main), /2 visitors now, seen in the last 5 minutes/)
  assert.match(textOf(main), /Pages.*\/café 1 50%/s)
  assert.match(textOf(main), /Countries.*Germany 1 50%.*United States 1 50%/s)
  assert.match(textOf(main), /Sources.*Direct 1 50%.*news 1 50%/s)
  assert.match(textOf(main), /Signup \/<b>/)
  assert.doesNotMatch(main, /<b>\/<b>/)
  assert.match(textOf(main), /As of \d\d:\d\d:\d\d\. Refresh/)
  assert.ok(main.includes(`<a href="${path}">Refresh</a>`))
})

test('a stream brings a hit within two seconds, compressed if the browser likes', async (t) => {
  const { console, record, watch } = await openLive(t)
  const visitor = await console.signedIn('viewer')
  const stream = await watch(visitor)
  assert.equal(stream.status, 200)
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(stream.headers.get('x-accel-buffering'), 'no')
  assert.equal(stream.headers.get('cache-control'), 'no-store, no-transform')
  // fetch asks for gzip, and undoes it.
  assert.equal(stream.headers.get('content-encoding'), 'gzip')
  await stream.find(shows('0 visitors now'))
  await record(pageview({ at: now(), visitor: 'a', pathname: '/new' }))
  const recordedAt = performance.now()
  await stream.find(shows('/new'))
  inTime(performance.now() - recordedAt < 2_000, 'a hit took more than two seconds')

  const plain = await watch(visitor, { 'Accept-Encoding': 'identity' })
  assert.equal(plain.headers.get('content-encoding'), null)
  await plain.find(shows('/new'))
})

test('a request for the headers of a stream opens none', async (t) => {
  const { console, path, watch } = await openLive(t)
  const visitor = await console.signedIn('viewer')
  const Cookie = Array.from(visitor.cookies, ([name, value]) => `${name}=${value}`).join('; ')
  for (let number = 0; number < 6; number++) {
    const { status } = await fetch(`${console.url}${path}/stream`, { method: 'HEAD', headers: { Cookie } })
    assert.equal(status, 200)
  }
  assert.equal((await watch(visitor)).status, 200)
})

test('fifty people who watch a site cost one statement per second', async (t) => {
  const { clickhouse } = await openStores()
  const state = { statements: 0 }
  const counting: ClickHouseReader = {
    rows(statement, signal, limits) {
      state.statements++
      return clickhouse.rows(statement, signal, limits)
    },
  }
  const stats = createStatsService({ cluster: { of: () => counting }, now: Date.now, cacheBytes: 0 })
  const { console, watch } = await openLive(t, { stats })
  const visitors = await Promise.all(Array.from({ length: 10 }, () => console.signedIn('viewer')))
  const startedAt = performance.now()
  const streams = await Promise.all(visitors.flatMap((visitor) => Array.from({ length: 5 }, () => watch(visitor))))
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]))
  await Promise.all(streams.map((stream) => stream.find(() => true)))
  await eventually(async () => assert.ok(state.statements >= 3))
  const seconds = (performance.now() - startedAt) / 1000
  assert.ok(state.statements <= seconds + 1, `${state.statements} statements in ${seconds} s`)
})

test('a user has five streams, and another one when one of them ends', async (t) => {
  const { console, watch } = await openLive(t)
  const visitor = await console.signedIn('owner')
  const streams = []
  for (let number = 0; number < 5; number++) streams.push(await watch(visitor))
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]))
  assert.equal((await watch(visitor)).status, 429)
  assert.equal((await watch(await console.signedIn('owner'))).status, 200)
  streams[0]?.close()
  await eventually(async () => assert.equal((await watch(visitor)).status, 200))
})

type Ending = (test: Awaited<ReturnType<typeof openLive>>, user: { id: string; email: string }) => Promise<unknown>

const endings: Record<string, Ending> = {
  'the user signs out everywhere': ({ console }, user) => signOutEverywhere(console.stores.postgres, commandLine, user),
  'the session ends': ({ console }, { id }) => console.stores.postgres`DELETE FROM user_sessions WHERE user_id = ${id}`,
  'the user is removed from the account': ({ console }, { id }) =>
    removeMember(
      console.stores.postgres,
      commandLine,
      { accountId: console.accountId, userId: id },
      { endsKeys: false, endsLinks: false, now: Date.now() },
    ),
  'the membership ends and the session goes on': ({ console }, { id }) =>
    console.stores.postgres`DELETE FROM members WHERE user_id = ${id}`,
  'the site is deleted': ({ console }) => console.stores.postgres`DELETE FROM sites WHERE id = ${console.siteId}`,
}

for (const [what, end] of Object.entries(endings))
  test(`a stream ends within a second when ${what}, and another user's goes on`, async (t) => {
    const live = await openLive(t)
    const visitor = await live.console.signedIn('viewer')
    const other = await live.console.signedIn('owner')
    const [stream, others] = [await live.watch(visitor), await live.watch(other)]
    await stream.find(() => true)
    await end(live, { id: visitor.userId, email: visitor.email })
    const endedAt = performance.now()
    await stream.over
    inTime(performance.now() - endedAt < 1_000, 'a stream went on for more than a second')
    if (what !== 'the site is deleted') assert.equal(others.isOver, false)
  })

test('a process that ends closes its streams at once', async (t) => {
  let isEnding = false
  const { console, watch } = await openLive(t, { isEnding: () => isEnding })
  const stream = await watch(await console.signedIn('viewer'))
  await stream.find(() => true)
  isEnding = true
  const startedAt = performance.now()
  await stream.over
  inTime(performance.now() - startedAt < 1_000, 'a stream went on for more than a second')
  assert.ok((stream.retryMs ?? 0) >= 4_000)
})

test('excluded countries are neither on the page nor in the stream', async (t) => {
  const { console, path, record, watch } = await openLive(t)
  await setExcludedCountries(console.stores.postgres, console.siteId, ['CN'])
  console.api.directory.forget(console.siteId)
  await record(
    pageview({ at: now(), visitor: 'a', pathname: '/seen', country: 'DE' }),
    pageview({ at: now(), visitor: 'b', pathname: '/secret', country: 'CN' }),
  )
  const visitor = await console.signedIn('viewer')
  assert.doesNotMatch(mainOf(await visitor.get(path)), /secret|China/)
  const stream = await watch(visitor)
  assert.doesNotMatch((await stream.find(shows('/seen'))).data, /secret|China/)
  await setExcludedCountries(console.stores.postgres, console.siteId, ['CN', 'DE'])
  await stream.find((message) => !shows('/seen')(message))
  assert.match(textOf(stream.messages.at(-1)?.data ?? ''), /0 visitors now/)
})

test('a stream needs a session, and no link leads to one', async (t) => {
  const { console, watch } = await openLive(t)
  const stranger = await watch(console.stranger())
  assert.deepEqual([stranger.status, stranger.headers.get('location')?.startsWith('/login?next=')], [303, true])
  const { accountId } = await console.addAccount()
  assert.equal((await watch(await console.signedIn('owner', accountId))).status, 404)
  // The API reads no cookie.
  const visitor = await console.signedIn('owner')
  assert.equal((await visitor.get('/api/v2/live')).status, 401)
})

test('while ClickHouse is down the page says so, and so does the stream, once', async (t) => {
  const down: ClickHouseReader = { rows: () => Promise.reject(new Error('down')) }
  const stats = createStatsService({ cluster: { of: () => down }, now: Date.now, cacheBytes: 0 })
  const { console, path, watch } = await openLive(t, { stats })
  const visitor = await console.signedIn('viewer')
  const page = await visitor.get(path)
  assert.equal(page.status, 200)
  assert.match(textOf(mainOf(page)), /This cannot be read at the moment/)
  const stream = await watch(visitor)
  await stream.find(({ event }) => event === 'unavailable')
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.equal(stream.messages.length, 1)
})
