// The memory budget of request bodies, from their first byte to the response.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createBodies } from '../../../src/collector/http/bodies.ts'
import { Refusal } from '../../../src/collector/http/refusals.ts'
import { createWorkQueue } from '../../../src/collector/http/work-queue.ts'
import { Unavailable } from '../../../src/stores/breaker.ts'

/** A server that answers 202 when `work` has finished with a body. */
async function openServer(t: TestContext, budget: number, work: (text: string) => Promise<void> = async () => {}) {
  const bodies = createBodies(budget, createWorkQueue())
  const server = createServer(async (request, response) => {
    const status = await bodies
      .read(request, (text) => work(text))
      .then(
        () => 202,
        (error) => (error instanceof Refusal ? 413 : error instanceof Unavailable ? 503 : 500),
      )
    response.writeHead(status, { Connection: 'close' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  /** Without `bytes`, the body is sent in chunks. */
  return (bytes: number | undefined, first: string) => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true })
    t.after(() => socket.destroy())
    const length = bytes === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n${first}`)
    return { socket, status: statusOf(socket) }
  }
}

function statusOf(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number(got.slice(9, 12))))
  })
}

test('when the budget is used up, the oldest incomplete body is refused and the new one accepted', async (t) => {
  const post = await openServer(t, 100_000)
  const slow = post(60_000, 'x'.repeat(40_000))
  await pause(100)
  const slower = post(60_000, 'x'.repeat(40_000))
  await pause(100)
  assert.equal(await post(50_000, 'x'.repeat(50_000)).status, 202)
  assert.equal(await slow.status, 503)
  slower.socket.write('x'.repeat(20_000))
  assert.equal(await slower.status, 202)
})

test('a body counts until its request has a response', async (t) => {
  const { promise: disk, resolve: stored } = Promise.withResolvers<void>()
  const post = await openServer(t, 100_000, () => disk)
  const whole = post(60_000, 'x'.repeat(60_000))
  await pause(200)
  assert.equal(await post(60_000, 'x'.repeat(60_000)).status, 503)
  stored()
  assert.equal(await whole.status, 202)
  assert.equal(await post(60_000, 'x'.repeat(60_000)).status, 202)
})

test('a body in too many pieces is refused, because each takes additional memory', async (t) => {
  const post = await openServer(t, 10_000_000)
  // HTTP chunks, because the kernel may merge bytes that are sent one by one.
  const inChunks = (count: number) => post(undefined, `${'1\r\na\r\n'.repeat(count)}0\r\n\r\n`).status
  assert.equal(await inChunks(1_000), 202)
  assert.equal(await inChunks(1_001), 413)
})
