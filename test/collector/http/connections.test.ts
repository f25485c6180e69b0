// Which connection is closed when there are too many, over real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket, connect as tcpConnect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createConnections } from '../../../src/collector/http/connections.ts'
import { createNetworkKey } from '../../../src/process/network-key.ts'

const networkKey = createNetworkKey()

async function openServer(t: TestContext, bounds: { max: number; maxPerAddress: number }, trusted?: string) {
  const reasons: string[] = []
  const connections = createConnections({
    ...bounds,
    keyOf: (address) => (address === trusted ? undefined : networkKey(address)),
    onClosed: (reason) => reasons.push(reason),
  })
  /** The server's sockets, in the order they connected. */
  const ends: Socket[] = []
  const server = createServer((socket) => {
    ends.push(socket.on('error', () => {}))
    connections.opened(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const clients: Socket[] = []
  t.after(() => {
    for (const socket of [...clients, ...ends]) socket.destroy()
    server.close()
  })
  return {
    connections,
    reasons,
    ends,
    async connect(localAddress: string): Promise<void> {
      const { port } = server.address() as AddressInfo
      const client = tcpConnect({ port, host: '127.0.0.1', localAddress })
      clients.push(client.on('error', () => {}).resume())
      const accepted = once(server, 'connection')
      await accepted
      await pause(20)
    },
    /** The numbers of the connections that are still open. */
    open: () => ends.flatMap((socket, at) => (socket.destroyed ? [] : [at])),
  }
}

test('too many connections of one address: its longest-waiting connection is closed, others stay open', async (t) => {
  const { connect, open, reasons } = await openServer(t, { max: 100, maxPerAddress: 2 })
  await connect('127.0.0.2')
  for (let time = 0; time < 4; time++) await connect('127.0.0.3')
  await connect('127.0.0.2')
  assert.deepEqual(open(), [0, 3, 4, 5])
  assert.deepEqual(reasons, ['address', 'address'])
})

test('a connection with a running request stays open, and its wait starts again with the response', async (t) => {
  const { connect, open, ends, connections } = await openServer(t, { max: 100, maxPerAddress: 2 })
  await connect('127.0.0.2')
  await connect('127.0.0.2')
  connections.complete(ends[0] as Socket)
  await connect('127.0.0.2')
  assert.deepEqual(open(), [0, 2])
  connections.answered(ends[0] as Socket)
  await connect('127.0.0.2')
  assert.deepEqual(open(), [0, 3])
})

test('when all connections of an address have running requests, the new one is closed', async (t) => {
  const { connect, open, ends, connections } = await openServer(t, { max: 100, maxPerAddress: 1 })
  await connect('127.0.0.2')
  connections.complete(ends[0] as Socket)
  await connect('127.0.0.2')
  assert.deepEqual(open(), [0])
})

test('when the server is full, the longest-waiting connection is closed, even one from a trusted address', async (t) => {
  const { connect, open, reasons } = await openServer(t, { max: 4, maxPerAddress: 2 }, '127.0.0.9')
  for (const last of [9, 9, 9, 2, 3, 4]) await connect(`127.0.0.${last}`)
  assert.deepEqual(open(), [2, 3, 4, 5])
  assert.deepEqual(reasons, ['full', 'full'])
})

test('a closed connection makes room for another', async (t) => {
  const { connect, open, ends, reasons } = await openServer(t, { max: 2, maxPerAddress: 2 })
  for (let time = 0; time < 5; time++) {
    await connect('127.0.0.2')
    ends.at(-1)?.destroy()
    await pause(20)
  }
  await connect('127.0.0.2')
  await connect('127.0.0.2')
  assert.deepEqual(open(), [5, 6])
  assert.deepEqual(reasons, [])
})
