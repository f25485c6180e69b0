// A process of slow clients: opens sockets, sends a little on each from time to time, and reports when the server closes each.
import { connect } from 'node:net'

export interface Order {
  target: keyof typeof targets
  port: number
  key: string
  sockets: number
  /** Their source addresses, in turn. */
  from: readonly string[]
}

interface Sent {
  first: string
  again: string
}

export interface Closed {
  kind: Kind
  /** Measured from the connect. A socket that is never closed is abandoned and reported with the time waited. */
  afterMs: number
  /** The first line that the server sent before it closed the connection. */
  got: string
}

/** What is sent at once, and again every second. */
const targets = {
  api: {
    'a header, byte by byte': { first: 'GET /livez HTTP/1.1\r\nX-Slow: ', again: 'a' },
    'half a request line': { first: 'GET /api/v1/sta', again: '' },
    nothing: { first: '', again: '' },
    'headers, one at a time': { first: 'GET /livez HTTP/1.1\r\n', again: 'X-A: b\r\n' },
    'a slow body nobody reads': {
      first: 'POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n',
      again: 'a',
    },
    'a slow body on a good request': {
      first: 'GET /api/v1/stats/geo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nContent-Length: 1000\r\n\r\n',
      again: 'a',
    },
    'slow chunks': {
      first: 'PUT /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
      again: '1\r\na\r\n',
    },
  },
  collector: {
    'a header, byte by byte': { first: 'POST /api/event HTTP/1.1\r\nX-Slow: ', again: 'a' },
    'half a request line': { first: 'POST /api/ev', again: '' },
    nothing: { first: '', again: '' },
    'headers, one at a time': { first: 'POST /api/event HTTP/1.1\r\n', again: 'X-A: b\r\n' },
    'a body that ends early': {
      first: `POST /api/event HTTP/1.1\r\nHost: x\r\nContent-Length: 65000\r\n\r\n${'x'.repeat(60_000)}`,
      again: '',
    },
    'a slow body': { first: 'POST /api/event HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n', again: 'a' },
    'slow chunks': {
      first: 'POST /api/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
      again: '1\r\na\r\n',
    },
  },
} as const satisfies Record<string, Record<string, { first: string; again: string }>>

export type Kind = string

const everyMs = 1_000
const givenUpMs = 15_000
const openedTogether = 100

process.once('message', async ({ target, port, key, sockets, from }: Order) => {
  const ended: Promise<Closed>[] = []
  const kinds = Object.entries<Sent>(targets[target])
  for (let at = 0; at < sockets; at++) {
    const [name, sent] = kinds[at % kinds.length] as [Kind, Sent]
    // Good requests with a slow body each query ClickHouse, and one in a hundred proves as much as one in seven.
    const isSpared = name === 'a slow body on a good request' && at % 100 > 6
    const [kind, { first, again }] = isSpared ? (kinds[4] as [Kind, Sent]) : [name, sent]
    const localAddress = from[at % from.length] as string
    ended.push(open(port, localAddress, kind, { first: first.replace('KEY', key), again }))
    if (at % openedTogether === openedTogether - 1) await untilAccepted(port)
  }
  process.send?.(await Promise.all(ended))
})

/**
 * Connections are accepted in order, so this one is accepted last. With a full backlog the kernel reports a connection as open long before
 * the server has it, and the server would notice a silent client only seconds later.
 */
function untilAccepted(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.resume()
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}

function open(port: number, localAddress: string, kind: Kind, { first, again }: Sent): Promise<Closed> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    let [opened, got] = [performance.now(), '']
    let dribble: NodeJS.Timeout | undefined
    const giveUp = setTimeout(() => socket.destroy(), givenUpMs)
    socket.on('connect', () => {
      opened = performance.now()
      if (first !== '') socket.write(first)
      if (again !== '') dribble = setInterval(() => socket.write(again), everyMs)
    })
    socket.on('data', (chunk) => {
      got ||= chunk.toString('latin1').split('\r\n')[0] as string
    })
    socket.on('error', () => {}) // a reset counts as a close
    socket.on('close', () => {
      clearTimeout(giveUp)
      clearInterval(dribble)
      resolve({ kind, afterMs: performance.now() - opened, got })
    })
  })
}
