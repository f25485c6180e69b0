// Every delivery ends in a stated state, whatever receivers and processes do (decision D-239).
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import { networksOf } from '../../src/process/networks.ts'
import type { DeliveryState } from '../../src/webhooks/deliveries.ts'
import { retryMinutes } from '../../src/webhooks/deliveries.ts'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { inherited } from '../support/inherited.ts'
import { needing } from '../support/needing.ts'
import { type Delivering, newNonce, openDelivering, rules } from './delivering.ts'
import { answerBytes, type Received, startReceiver } from './receiver.ts'

const { test, before, after, beforeEach } = needing('ClickHouse')

let world: Delivering
let { start, queue, replay, rowOf, inState, failed, dueNow } = {} as Delivering
before(async () => {
  world = await openDelivering()
  ;({ start, queue, replay, rowOf, inState, failed, dueNow } = world)
})
after(() => world.close())
beforeEach(() => world.clear())

const idsOf = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id'])

test('a message is delivered once, however many processes share the work, and is signed', async (t) => {
  const { receiver, webhook } = world
  const loops = [start(), start(), start()]
  t.after(() => Promise.all(loops.map((loop) => loop.stop())))
  const ids = await Promise.all(Array.from({ length: 8 }, (_, index) => queue({ visitors: index })))
  for (const id of ids) {
    const row = await inState(id, 'delivered')
    assert.deepEqual([row.attempts, row.failures, row.httpStatus, row.problem], [1, 0, 204, ''])
    assert.ok((row.durationMs ?? -1) >= 0)
  }
  assert.deepEqual(idsOf(receiver.received).sort(), [...ids].sort())
  const { headers, body, path } = receiver.received[0] as Received
  assert.deepEqual([path, headers['content-type'], headers['user-agent']], ['/hook', 'application/json', 'Footfall'])
  assert.equal(headers.host, `127.0.0.1:${receiver.port}`)
  const { type, timestamp, data } = new Webhook(webhook.secret).verify(body, headers) as Record<string, unknown>
  assert.deepEqual([type, Object.keys(data as object)], ['alert.began', ['visitors']])
  assert.ok(Math.abs(Date.parse(timestamp as string) - Date.now()) < 60_000)
  const another = await world.addWebhook(receiver.url)
  assert.throws(() => new Webhook(another.secret).verify(body, headers), /No matching signature/)
  assert.throws(() => new Webhook(webhook.secret).verify(body.replace('alert', 'a1ert'), headers), /No matching/)
})

test('every enabled webhook of the site gets the message, and none of another site', async (t) => {
  const other = await startReceiver()
  t.after(() => other.close())
  const { stores, siteId } = world
  const second = await world.addWebhook(other.url)
  const off = await world.addWebhook(`${other.url}/off`)
  await stores.postgres`UPDATE webhooks SET disabled_at = now() WHERE id = ${off.id}`
  await world.addWebhook(`${other.url}/foreign`, await world.addSite())
  const id = await queue()
  const rows = await stores.postgres<{ id: string; site: string }[]>`
    SELECT webhook_deliveries.id, site_id AS site FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id`
  assert.deepEqual([rows.length, new Set(rows.map(({ site }) => site))], [2, new Set([siteId])])
  const loop = start()
  t.after(() => loop.stop())
  for (const row of rows) await inState(row.id, 'delivered')
  assert.deepEqual([idsOf(world.receiver.received).length, other.received.map(({ path }) => path)], [1, ['/hook']])
  const { body, headers } = other.received[0] as Received
  assert.ok(new Webhook(second.secret).verify(body, headers))
  assert.equal(
    rows.some((row) => row.id === id),
    true,
  )
})

test('500 for an hour: each attempt waits longer, has the same id, and the last one is taken', async (t) => {
  const { receiver } = world
  receiver.react((response) => response.writeHead(500).end('{"error":"no\u0000 such\n team"}'))
  const loop = start()
  t.after(() => loop.stop())
  const id = await queue()
  for (const [index, seconds] of [60, 300, 1_800].entries()) {
    const row = await failed(id, index + 1)
    assert.deepEqual([row.state, row.waits, row.httpStatus], ['waiting', seconds, 500])
    assert.equal(row.problem, 'the receiver answered 500: {"error":"no such team"}')
    if (index === 2) receiver.react((response) => response.writeHead(200).end())
    await dueNow(id)
  }
  const { attempts, problem } = await inState(id, 'delivered')
  assert.deepEqual([attempts, problem, idsOf(receiver.received)], [4, '', [id, id, id, id]])
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
})

test('after a day of failures a delivery has failed', async (t) => {
  world.receiver.react((response) => response.writeHead(503).end())
  assert.deepEqual(retryMinutes, [1, 5, 30, 120, 360, 900])
  const id = await queue()
  await world.stores.postgres`UPDATE webhook_deliveries SET failures = 6 WHERE id = ${id}`
  const loop = start()
  t.after(() => loop.stop())
  const { problem, httpStatus } = await inState(id, 'failed')
  assert.deepEqual([problem, httpStatus], ['the receiver answered 503', 503])
})

test('410 is the last word of a receiver', async (t) => {
  world.receiver.react((response) => response.writeHead(410).end())
  const loop = start()
  t.after(() => loop.stop())
  assert.equal((await inState(await queue(), 'failed')).attempts, 1)
})

test('a redirect is not followed, wherever it leads', async (t) => {
  const elsewhere = await startReceiver()
  t.after(() => elsewhere.close())
  const loop = start()
  t.after(() => loop.stop())
  for (const [status, location] of [
    [301, elsewhere.url],
    [302, 'http://169.254.169.254/latest/meta-data/'],
    [307, elsewhere.url],
    [308, '//127.0.0.2/'],
  ] as const) {
    world.receiver.react((response) => response.writeHead(status, { Location: location }).end())
    const row = await failed(await queue(), 1)
    assert.deepEqual([row.state, row.httpStatus], ['waiting', status])
    assert.equal(row.problem, `the receiver redirects (${status}), which is not followed`)
  }
  assert.deepEqual([elsewhere.connections(), world.receiver.received.length], [0, 4])
})

test('nobody listens: tried again later', async (t) => {
  const gone = await startReceiver()
  await gone.close()
  await world.stores.postgres`UPDATE webhooks SET url = ${gone.url}`
  const loop = start()
  t.after(() => loop.stop())
  const row = await failed(await queue(), 1)
  assert.deepEqual([row.state, row.problem, row.httpStatus], ['waiting', 'ECONNREFUSED', null])
})

test('a receiver that is slow is waited for', async (t) => {
  world.receiver.react((response) => setTimeout(() => response.writeHead(200).end(), 700))
  const loop = start()
  t.after(() => loop.stop())
  const row = await inState(await queue(), 'delivered')
  assert.ok((row.durationMs ?? 0) >= 700)
})

test('a receiver that hangs after it got the message: in doubt, and never sent again by itself', async (t) => {
  const { receiver } = world
  receiver.react(() => {})
  const loop = start()
  t.after(() => loop.stop())
  const id = await queue()
  const { problem, attempts } = await inState(id, 'in doubt')
  assert.deepEqual([problem, attempts], ['the receiver did not answer within 1.5 seconds', 1])
  receiver.react((response) => response.writeHead(200).end())
  await dueNow(id)
  await inState(await queue(), 'delivered')
  assert.deepEqual(
    idsOf(receiver.received).filter((one) => one === id),
    [id],
  )
})

const unclear = {
  'closes the connection instead of an answer': '',
  'closes the connection in the middle of the head': 'HTTP/1.1 200 OK\r\nContent-Le',
  'answers nonsense': 'SSH-2.0-OpenSSH_9.9\r\n',
  'has an endless head': `HTTP/1.1 200 OK\r\n${'X-Header: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(2_000)}`,
  'wants to speak another protocol':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'only says that it has begun': 'HTTP/1.1 102 Processing\r\n\r\n',
}

for (const [what, bytes] of Object.entries(unclear)) {
  test(`a receiver that ${what}: in doubt`, async (t) => {
    world.receiver.react(answerBytes(bytes))
    const loop = start()
    t.after(() => loop.stop())
    const { problem, attempts } = await inState(await queue(), 'in doubt')
    assert.match(problem, /^the receiver (broke off: |did not answer)/)
    assert.deepEqual([attempts, world.receiver.received.length], [1, 1])
  })
}

test('the status counts, however the answer ends', async (t) => {
  const loop = start()
  t.after(() => loop.stop())
  world.receiver.react(answerBytes('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'))
  await inState(await queue(), 'delivered')
  world.receiver.react(answerBytes('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 100\r\n\r\nhalf'))
  assert.equal((await failed(await queue(), 1)).problem, 'the receiver answered 502: half')
})

test('of a huge answer only the beginning is read and kept', async (t) => {
  let written = 0
  world.receiver.react((response) => {
    response.writeHead(500)
    const chunk = 'x'.repeat(64 * 1024)
    const more = () => {
      while (!response.destroyed && written < 500 * 1024 * 1024) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', more)
      }
    }
    more()
  })
  const loop = start()
  t.after(() => loop.stop())
  const row = await failed(await queue(), 1)
  assert.equal(row.problem, `the receiver answered 500: ${'x'.repeat(200)}`)
  assert.ok(written < 100 * 1024 * 1024, `${written} bytes`)
})

test('an answer that drips for ever ends with the time limit', async (t) => {
  world.receiver.react((response) => {
    response.writeHead(500)
    const dripping = setInterval(() => response.write('.'), 100)
    response.once('close', () => clearInterval(dripping))
  })
  const loop = start()
  t.after(() => loop.stop())
  assert.match((await failed(await queue(), 1)).problem, /^the receiver answered 500: \.+$/)
})

test('a receiver that never finishes TLS got nothing: tried again', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as { port: number }
  await world.stores.postgres`UPDATE webhooks SET url = ${`https://127.0.0.1:${port}/`}`
  const loop = start()
  t.after(() => loop.stop())
  assert.equal((await failed(await queue(), 1)).problem, 'no connection within 1.5 seconds')
})

test('over TLS: the certificate must be of the name, and the name of the URL is what the receiver sees', async (t) => {
  const certificate = makeCertificate('hooks.example')
  const trusted = getCACertificates('default')
  t.after(() => setDefaultCACertificates(trusted))
  const names: (string | false | null)[] = []
  const server = createSecureServer(certificate, (request, response) => {
    request.resume()
    response.writeHead(200).end()
  })
  server.on('secureConnection', (socket) => names.push(socket.servername))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const loop = start()
  t.after(() => loop.stop())
  const to = (host: string) => world.stores.postgres`UPDATE webhooks SET url = ${`https://${host}:${port}/`}`

  await to('hooks.example')
  assert.equal((await failed(await queue(), 1)).problem, 'DEPTH_ZERO_SELF_SIGNED_CERT')
  setDefaultCACertificates([...trusted, certificate.cert])
  await to('other.example')
  assert.equal((await failed(await queue(), 1)).problem, 'ERR_TLS_CERT_ALTNAME_INVALID')
  await to('hooks.example')
  names.length = 0
  await inState(await queue(), 'delivered')
  assert.deepEqual(names, ['hooks.example'])
})

test('a receiver that hangs delays no other', async (t) => {
  const { receiver, stores, webhook } = world
  const hanging = await startReceiver()
  t.after(() => hanging.close())
  hanging.react(() => {})
  const other = await world.addWebhook(hanging.url)
  for (let index = 0; index < 60; index++)
    await stores.postgres`
      INSERT INTO webhook_deliveries (id, webhook_id, type, body, next_attempt_at)
      VALUES ('whd_' || ${String.fromCharCode(97 + (index % 26)).repeat(15)} || ${'abc'[Math.floor(index / 26)] as string}, ${other.id}, 'alert.began', '{}', now() - interval '1 hour')`
  const loop = start({ limits: { connectMs: 10_000, answerMs: 10_000 } })
  t.after(() => loop.stop())
  await queue()
  await eventually(async () => assert.equal(receiver.received.length, 1))
  const [row] = await stores.postgres<[{ state: DeliveryState }]>`
    SELECT state FROM webhook_deliveries WHERE webhook_id = ${webhook.id}`
  assert.ok(row)
  assert.equal(hanging.received.length, 1, 'one at a time')
})

test('a name is looked up once for each attempt, and the connection goes to the address that was checked', async (t) => {
  const { receiver, stores } = world
  await stores.postgres`UPDATE webhooks SET url = ${`http://hooks.example:${receiver.port}/hook`}`
  let lookups = 0
  // A second answer would lead to a port of this machine where nobody listens, or be refused.
  const resolve = async () => [lookups++ === 0 ? '127.0.0.1' : '169.254.169.254']
  const loop = start({ rules: { ...rules, resolve } })
  t.after(() => loop.stop())
  await inState(await queue(), 'delivered')
  assert.deepEqual([lookups, receiver.received[0]?.headers.host], [1, `hooks.example:${receiver.port}`])

  const connections = receiver.connections()
  const second = await failed(await queue(), 1)
  assert.match(second.problem, /hooks\.example has no address, or one that is not public/)
  assert.deepEqual([second.state, lookups, receiver.connections()], ['waiting', 2, connections])
})

test('without the setting of the operator this machine gets nothing, although it was allowed before', async (t) => {
  const connections = world.receiver.connections()
  const loop = start({ rules: { ...rules, isAllowed: networksOf([]) } })
  t.after(() => loop.stop())
  assert.match((await failed(await queue(), 1)).problem, /not public/)
  assert.equal(world.receiver.connections(), connections)
})

test('a secret that cannot be read any more sends nothing', async (t) => {
  const loop = start({ secrets: [{ version: 2, secret: Buffer.from('another-secret-for-tests-of-32-chars') }] })
  t.after(() => loop.stop())
  assert.match((await failed(await queue(), 1)).problem, /KEY_SECRETS has changed; rotate it/)
  assert.equal(world.receiver.received.length, 0)
})

test('a replay is a delivery of its own with the id of the message, once for each form', async (t) => {
  const { receiver } = world
  const id = await queue()
  await assert.rejects(replay(id), /cannot be replayed/)
  const loop = start()
  t.after(() => loop.stop())
  await inState(id, 'delivered')
  const nonce = newNonce()
  const [first, second] = [await replay(id, nonce), await replay(id, nonce)]
  assert.equal(first, second)
  const row = await inState(first, 'delivered')
  assert.equal(row.replayOf, id)
  const third = await replay(first)
  assert.equal((await inState(third, 'delivered')).replayOf, id)
  assert.deepEqual(idsOf(receiver.received), [id, id, id])
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
})

test('people send at most thirty messages in an hour', async () => {
  const { postgres } = world.stores
  const id = await queue()
  await postgres`UPDATE webhook_deliveries SET state = 'delivered' WHERE id = ${id}`
  for (let index = 0; index < 30; index++) await replay(id)
  await assert.rejects(replay(id), /at most 30 tests and replays/)
  await postgres`UPDATE webhook_deliveries SET created_at = now() - interval '61 minutes' WHERE replay_of IS NOT NULL`
  await replay(id)
})

test('what waits for a disabled webhook fails, and is not sent when it is enabled again', async (t) => {
  const { postgres } = world.stores
  const id = await queue()
  await postgres`UPDATE webhooks SET disabled_at = now()`
  const loop = start()
  t.after(() => loop.stop())
  assert.equal((await inState(id, 'failed')).problem, 'the webhook was disabled')
  assert.equal(world.receiver.received.length, 0)
})

test('a claim that nobody renews is free again', async (t) => {
  const id = await queue()
  await world.stores.postgres`
    UPDATE webhook_deliveries
    SET state = 'sending', sender = gen_random_uuid(), attempts = 1, claimed_until = now() - interval '1 second' WHERE id = ${id}`
  const loop = start()
  t.after(() => loop.stop())
  await inState(id, 'delivered')
  assert.equal(world.receiver.received.length, 1)
})

test('a process that stood still does not send what another process has by now', async (t) => {
  const { receiver, stores } = world
  const id = await queue()
  await stores.postgres`UPDATE webhooks SET url = ${`http://hooks.example:${receiver.port}/hook`}`
  const other = await world.addWebhook(`${receiver.url}/other`)
  const resolve = async () => {
    await stores.postgres`
      UPDATE webhook_deliveries SET sender = gen_random_uuid(), attempts = attempts + 1, claimed_until = now() + interval '1 hour'
      WHERE id = ${id}`
    return ['127.0.0.1']
  }
  const before = receiver.connections()
  const loop = start({ rules: { ...rules, resolve } })
  t.after(() => loop.stop())
  await eventually(async () => assert.equal(receiver.connections() - before, 1))
  await stores.postgres`
    INSERT INTO webhook_deliveries (id, webhook_id, type, body) VALUES ('whd_aaaaaaaaaaaaaaaa', ${other.id}, 'alert.began', '{}')`
  await inState('whd_aaaaaaaaaaaaaaaa', 'delivered') // time enough to send the first one, too
  assert.deepEqual([receiver.received.map(({ path }) => path), (await rowOf(id)).state], [['/hook/other'], 'sending'])
})

test('nothing is sent that was queued before a restore', async (t) => {
  const { postgres } = world.stores
  const [old, fresh] = [await queue(), await queue()]
  await postgres`UPDATE webhook_deliveries SET created_at = now() - interval '1 hour' WHERE id = ${old}`
  await postgres`UPDATE ledger SET began_at = now() - interval '1 minute'`
  const loop = start()
  t.after(() => loop.stop())
  await inState(fresh, 'delivered')
  assert.match((await inState(old, 'in doubt')).problem, /restored/)
  assert.deepEqual(idsOf(world.receiver.received), [fresh])
})

test('deliveries are forgotten after 30 days', async (t) => {
  const { postgres } = world.stores
  const [old, young] = [await queue(), await queue()]
  await postgres`UPDATE webhook_deliveries SET state = 'failed', created_at = now() - interval '30 days 1 minute' WHERE id = ${old}`
  await postgres`UPDATE webhook_deliveries SET state = 'failed', created_at = now() - interval '29 days' WHERE id = ${young}`
  const loop = start()
  t.after(() => loop.stop())
  await eventually(async () => {
    const rows = await postgres<{ id: string }[]>`SELECT id FROM webhook_deliveries`
    assert.deepEqual(
      rows.map(({ id }) => id),
      [young],
    )
  })
})

test('a process that ends waits for answers, but not for what it has not sent', async (t) => {
  const { receiver, stores } = world
  receiver.react((response) => setTimeout(() => response.writeHead(200).end(), 500))
  const other = await world.addWebhook('http://slow.example/')
  const sent = await queue()
  const loop = start({
    rules: { ...rules, resolve: (_name, signal) => aborted(signal) },
    limits: { connectMs: 60_000, answerMs: 1_500 },
  })
  t.after(() => loop.stop())
  const statesOf = async (id: string) => {
    const rows = await stores.postgres<{ state: DeliveryState; failures: number }[]>`
      SELECT state, failures FROM webhook_deliveries WHERE webhook_id = ${id}`
    return [...rows]
  }
  await eventually(async () => {
    assert.equal(receiver.received.length, 1)
    assert.deepEqual(await statesOf(other.id), [{ state: 'sending', failures: 0 }])
  })
  const began = performance.now()
  await loop.stop()
  inTime(performance.now() - began < 4_000, 'the process ends')
  assert.equal((await rowOf(sent)).state, 'delivered')
  assert.deepEqual(await statesOf(other.id), [{ state: 'waiting', failures: 0 }])
})

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

function makeCertificate(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-keyout', key, '-out', cert]
  execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return pair
}

/** Another process that delivers, which is killed with everything it knows. */
function spawnProcess() {
  const environment = { ...inherited, TEST_STORES: JSON.stringify(world.stores.addresses) }
  const child = spawn(process.execPath, [new URL('sending-process.ts', import.meta.url).pathname], {
    env: environment,
    stdio: 'inherit',
  })
  const ended = once(child, 'exit')
  return {
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

test('kill -9 between sending and noting: in doubt, and one click sends it once more', async (t) => {
  const { receiver, stores } = world
  receiver.react(() => {}) // it has the message, and its answer never comes
  const id = await queue()
  const other = spawnProcess()
  t.after(() => other.kill())
  await eventually(async () => assert.equal(receiver.received.length, 1))
  await other.kill()
  assert.equal((await rowOf(id)).state, 'sending')
  await stores.postgres`UPDATE webhook_deliveries SET claimed_until = now() WHERE id = ${id}`
  receiver.react((response) => response.writeHead(200).end())
  const loop = start()
  t.after(() => loop.stop())
  const { problem } = await inState(id, 'in doubt')
  assert.equal(problem, 'the process that sent it ended before the receiver answered')
  await inState(await queue(), 'delivered') // time enough to send it again
  assert.deepEqual(
    idsOf(receiver.received).filter((one) => one === id),
    [id],
  )
  await inState(await replay(id), 'delivered')
  assert.deepEqual(
    idsOf(receiver.received).filter((one) => one === id),
    [id, id],
  )
})

test('kill -9 before anything is sent: delivered once by another process', async (t) => {
  const { receiver, stores } = world
  // It accepts connections and never answers in TLS, so the process waits and has not handed over the message.
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as { port: number }
  await stores.postgres`UPDATE webhooks SET url = ${`https://127.0.0.1:${port}/`}`
  const id = await queue()
  const connected = once(silent, 'connection')
  const other = spawnProcess()
  await connected
  await other.kill()
  assert.equal((await rowOf(id)).state, 'sending')
  await stores.postgres`UPDATE webhook_deliveries SET claimed_until = now()`
  await stores.postgres`UPDATE webhooks SET url = ${receiver.url}`
  const loop = start()
  t.after(() => loop.stop())
  await inState(id, 'delivered')
  assert.deepEqual(idsOf(receiver.received), [id])
})

// The last, because the stores are unusable after it.
test('an older PostgreSQL sends nothing, because every claim is counted in the ledger', async (t) => {
  const { postgres } = world.stores
  const loop = start()
  await inState(await queue(), 'delivered')
  await loop.stop()
  // What a restore of a dump from before the message brings back.
  await postgres`UPDATE shards SET mark = mark - 1, confirmed_mark = mark - 1, compared_in = '', counted_in = ''`
  const again = await queue()
  const restored = start()
  t.after(() => restored.stop())
  await eventually(async () => assert.ok((await rowOf(again)).attempts > 2)) // it is given back each time
  await restored.stop()
  assert.deepEqual([(await rowOf(again)).state, world.receiver.received.length], ['waiting', 1])
})
