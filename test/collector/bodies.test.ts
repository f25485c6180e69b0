// Memory of requests: a budget from the first byte to the answer, and turns of the event loop that end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createBodies } from '../../src/collector/bodies.ts'
import { Refusal } from '../../src/collector/refusals.ts'
import { createWorkQueue } from '../../src/collector/work-queue.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import { eventually } from '../support/eventually.ts'

/** A server that answers 202 when `work` is done with a body. */
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
  /** Without a number of bytes in chunks. */
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

test('when the budget is used up the body that has been coming for longest goes, and the new one is taken', async (t) => {
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

test('a body counts until its request is answered', async (t) => {
  const { promise: disk, resolve: stored } = Promise.withResolvers<void>()
  const post = await openServer(t, 100_000, () => disk)
  const whole = post(60_000, 'x'.repeat(60_000))
  await pause(200)
  assert.equal(await post(60_000, 'x'.repeat(60_000)).status, 503)
  stored()
  assert.equal(await whole.status, 202)
  assert.equal(await post(60_000, 'x'.repeat(60_000)).status, 202)
})

test('a body in too many pieces is refused: each takes memory of its own', async (t) => {
  const post = await openServer(t, 10_000_000)
  // Chunks, because the kernel may put bytes together that are sent one by one.
  const inChunks = (count: number) => post(undefined, `${'1\r\na\r\n'.repeat(count)}0\r\n\r\n`).status
  assert.equal(await inChunks(1_000), 202)
  assert.equal(await inChunks(1_001), 413)
})

/** Keeps this thread busy, as parsing does. */
function work(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('work that comes together is spread over turns of the event loop, in its order', async () => {
  const queue = createWorkQueue()
  const order: number[] = []
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(
    Array.from({ length: 30 }, (_, number) =>
      queue.run(100, async () => {
        work(5)
        order.push(number)
      }),
    ),
  )
  isOver = true
  assert.deepEqual(
    order,
    Array.from({ length: 30 }, (_, number) => number),
  )
  assert.ok(turns >= 10, `${turns} turns`)
})

test('no more than a megabyte is worked on at once', async () => {
  const queue = createWorkQueue()
  let [now, most] = [0, 0]
  await Promise.all(
    Array.from({ length: 100 }, () =>
      queue.run(65_536, async () => {
        most = Math.max(most, ++now)
        await pause(5)
        now--
      }),
    ),
  )
  assert.equal(most, 16)
})

test('work that has waited for more than two seconds is refused, and the next is taken', async () => {
  let at = 0
  const queue = createWorkQueue(() => at)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = queue.run(2_000_000, () => promise)
  const late = queue.run(1, async () => {})
  at = 2_001
  resolve()
  await first
  await assert.rejects(late, Unavailable)
  await eventually(() => queue.run(1, async () => {}))
})
