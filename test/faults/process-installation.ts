// API processes on healthy stores behind proxies that can be slowed, and a client for tests of processes.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ApiProcess, type ApiProcessOptions, startApiProcess } from '../support/api-process.ts'
import { atEnd } from '../support/at-end.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { openStores, type StoreAddresses } from '../support/stores.ts'
import { type Customer, newCustomer, overview, record, until } from './installation.ts'

export interface ProcessInstallation {
  /** A site with one visitor. */
  customer: Customer
  postgres: FaultProxy
  clickhouse: FaultProxy
  /** Waits until the process has cached the customer's key. */
  startApi(environment?: Record<string, string>, options?: ApiProcessOptions & { redis?: string }): Promise<ApiProcess>
}

export async function installProcesses(): Promise<ProcessInstallation> {
  const stores = await openStores()
  const { addresses } = stores
  const postgres = await proxyOf(addresses.postgres, '5432')
  const clickhouse = await proxyOf(addresses.clickhouse, '8123')
  const customer = await newCustomer(stores.postgres)
  await record(stores.clickhouse, customer.siteId, {})
  return {
    customer,
    postgres,
    clickhouse,
    async startApi(environment = {}, { redis, ...options } = {}) {
      const through: Omit<StoreAddresses, 'redis' | 'redisPrefix'> = {
        postgres: at(addresses.postgres, postgres.port),
        clickhouse: at(addresses.clickhouse, clickhouse.port),
      }
      const api = await startApiProcess({ ...through, ...(redis && { redis }) }, environment, options)
      atEnd(() => {
        api.child.kill('SIGKILL')
      })
      await until('the key works', 5_000, async () => (await overview(api, customer.key)).status === 200)
      return api
    },
  }
}

async function proxyOf(url: string, standardPort: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port || standardPort) })
  atEnd(() => proxy.close())
  return proxy
}

function at(url: string, port: number): string {
  const address = new URL(url)
  address.host = `127.0.0.1:${port}`
  return address.href
}

export interface Line {
  socket: Socket
  /** Sends a request on this connection and reads the response, whose body must be JSON. */
  ask(path: string, key?: string): Promise<{ status: number; closes: boolean; text: string }>
  /** Whether the server has closed the connection. */
  isClosed(): boolean
}

/** A connection that stays open and is used again, as a load balancer does. */
export async function openLine({ url }: ApiProcess): Promise<Line> {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    socket,
    isClosed: () => socket.destroyed || socket.readableEnded,
    async ask(path, key) {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${key ? `Authorization: Bearer ${key}\r\n` : ''}\r\n`)
      let got = ''
      for (;;) {
        const [headers = '', body] = got.split('\r\n\r\n')
        const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1])
        if (body !== undefined && body.length >= length) {
          const closes = /^connection: close/im.test(headers)
          return { status: Number(got.slice(9, 12)), closes, text: body }
        }
        got += await next(socket)
      }
    },
  }
}

async function next(socket: Socket): Promise<string> {
  const gone = new AbortController()
  const lost = once(socket, 'close', { signal: gone.signal }).then(() => {
    throw new Error('the connection was closed before the response')
  })
  try {
    const [chunk] = await Promise.race([once(socket, 'data', { signal: gone.signal }), lost])
    return String(chunk)
  } finally {
    gone.abort()
    lost.catch(() => {})
  }
}
