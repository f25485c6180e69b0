// `footfall serve` with open streams: a hit goes from the collector to everybody who watches, and SIGTERM ends them in time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addMember } from '../../src/users/members.ts'
import { createSession } from '../../src/users/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { browserAgent } from '../support/collector-process.ts'
import { readEventStream } from '../support/event-stream.ts'
import { inTime } from '../support/in-time.ts'
import { type Installation, install } from '../support/installation.ts'
import { launchServe } from '../support/serve-process.ts'
import { connect, disconnect } from '../support/stores.ts'

let installation: Installation
before(async () => {
  installation = await install()
})
after(() => installation.remove())

test('a hit reaches the streams of the console and the API, and SIGTERM ends them and the process', async (t) => {
  const domain = 'live.example'
  await installation.json('site', 'create', domain)
  const { key } = await installation.json('key', 'create', domain)
  const stores = connect(installation.addresses)
  const [site] = await stores.postgres<{ accountId: string }[]>`
    SELECT account_id AS "accountId" FROM sites WHERE domain = ${domain}`
  const userId = await createUser(stores.postgres, 'owner@live.example', 'no password')
  await addMember(stores.postgres, site?.accountId as string, userId, 'owner')
  const cookie = await createSession(stores.postgres, userId, { address: '127.0.0.0', browser: 'A test' })
  await disconnect(stores)

  const server = await launchServe(installation.addresses, { DRAIN_SECONDS: '2' })
  t.after(() => server.kill())
  await server.untilReady()
  const ofApi = await readEventStream(`${server.url}/api/v2/live`, { Authorization: `Bearer ${key}` })
  const ofConsole = await readEventStream(`${server.url}/sites/${domain}/live/stream`, {
    Cookie: `footfall-session=${cookie}`,
  })
  const streams = [ofApi, ofConsole]
  await Promise.all(streams.map((stream) => stream.find(() => true)))

  const hit = await fetch(`${server.url}/api/event`, {
    method: 'POST',
    headers: { 'User-Agent': browserAgent },
    body: JSON.stringify({ n: 'pageview', u: `https://${domain}/just-now`, d: domain }),
  })
  assert.equal(hit.status, 202)
  const sentAt = performance.now()
  await Promise.all(streams.map((stream) => stream.find(({ data }) => data.includes('/just-now'))))
  // A batch is shipped every second, and a hit is there two seconds after that.
  inTime(performance.now() - sentAt < 4_000, 'a hit took more than four seconds')

  const endedAt = performance.now()
  const ended = server.stop()
  await Promise.all(streams.map(({ over }) => over))
  inTime(performance.now() - endedAt < 1_000, 'streams went on for more than a second')
  for (const { retryMs } of streams) assert.ok((retryMs ?? 0) >= 4_000)
  // While it drains, a reader who comes at once gets an answer, and no stream that would hold the process.
  const again = await readEventStream(`${server.url}/api/v2/live`, { Authorization: `Bearer ${key}` })
  assert.equal(again.status, 200)
  await again.over
  assert.equal(await ended, 0)
  inTime(performance.now() - endedAt < 6_000, 'the process took more than six seconds')
})
