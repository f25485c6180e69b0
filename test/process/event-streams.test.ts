// Server-sent events over a real connection: slow readers, heartbeats and ends.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createEventStreams, type EventStream } from '../../src/process/event-streams.ts'
import { readEventStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'

async function openServer(t: TestContext, { allowed = new Set(['a']) } = {}) {
  const streams = createEventStreams<string>({
    maxPerOwner: 2,
    isEnding: () => false,
    stillAllowed: async (all) => new Set(all.filter((one) => allowed.has(one))),
  })
  const opened: EventStream[] = []
  let closed = 0
  const server = createServer((_request, response) => {
    const stream = streams.open('owner', 'a', () => void closed++)
    if (!stream) return void response.writeHead(429).end()
    opened.push(stream)
    response.on('close', () => stream.body.destroy())
    stream.body.pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, port, opened, allowed, closed: () => closed }
}

test('messages with several lines and names arrive as they were sent', async (t) => {
  const { url, opened } = await openServer(t)
  const reader = await readEventStream(url, {})
  opened[0]?.send('one\ntwo', 'named')
  assert.deepEqual(await reader.find(() => true), { event: 'named', data: 'one\ntwo' })
})

test('a reader that does not read gets the latest message, and holds no others in memory', async (t) => {
  const { port, opened } = await openServer(t)
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await eventually(async () => assert.equal(opened.length, 1))
  const [stream] = opened as [EventStream]
  const large = 'x'.repeat(100_000)
  for (let number = 1; number <= 500; number++) {
    stream.send(`${number} ${large}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  // What is not with the reader yet: one message, and the buffers of the connection.
  assert.ok(stream.body.readableLength < 300_000, `${stream.body.readableLength} bytes wait`)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  await eventually(async () => assert.match(text, /data: 500 x/))
  const numbers = [...text.matchAll(/^data: (\d+) x/gm)].map(([, number]) => Number(number))
  assert.ok(numbers.length < 400, `${numbers.length} of 500 messages were kept for it`)
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  )
})

test('a stream that is no longer allowed ends, and makes room for another', async (t) => {
  const { url, allowed, closed } = await openServer(t)
  const readers = [await readEventStream(url, {}), await readEventStream(url, {})]
  assert.equal((await readEventStream(url, {})).status, 429)
  allowed.clear()
  await Promise.all(readers.map(({ over }) => over))
  assert.equal(closed(), 2)
  allowed.add('a')
  assert.equal((await readEventStream(url, {})).status, 200)
})

test('a check that fails ends all streams', async (t) => {
  const streams = createEventStreams<string>({
    maxPerOwner: 1,
    isEnding: () => false,
    stillAllowed: () => Promise.reject(new Error('nobody knows')),
  })
  let isClosed = false
  const stream = streams.open('owner', 'a', () => {
    isClosed = true
  })
  stream?.body.resume()
  t.after(() => stream?.body.destroy())
  await eventually(async () => assert.equal(isClosed, true))
})

test('a comment comes while nothing else does, and a reader that is stuck is cut off', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const streams = createEventStreams<string>({
    maxPerOwner: 2,
    isEnding: () => false,
    stillAllowed: async (all) => new Set(all),
  })
  const pass = (milliseconds: number) => {
    now += milliseconds
    t.mock.timers.tick(300)
  }
  const read = streams.open('owner', 'a', () => {}) as EventStream
  let text = ''
  read.body.on('data', (chunk) => {
    text += chunk
  })
  let isCut = false
  const stuck = streams.open('owner', 'b', () => {
    isCut = true
  }) as EventStream
  t.after(() => read.body.destroy())
  stuck.send('never read')
  await new Promise((resolve) => setImmediate(resolve))
  pass(14_000)
  assert.doesNotMatch(text, /^:/m)
  pass(2_000)
  await new Promise((resolve) => setImmediate(resolve))
  assert.match(text, /^: nothing new$/m)
  pass(16_000)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isCut, true)
  assert.equal(read.body.destroyed, false)
})
