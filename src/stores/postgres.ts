// All connections to PostgreSQL are made here, so that a broken connection only rejects promises (decision D-136). postgres.js throws
// outside of any promise, which ends the process, when a connection breaks
// - while it reads the array types, which it does for each new connection. We give it the one array type that we use.
// - during its own begin() and reserve(): they write to a connection that is gone, or that another caller has by now. Ours open
//   their own connection, which is never replaced.
// - while it cancels a query, or during cursor(). Nothing long-running may use these.
import { connect, Socket } from 'node:net'
import postgres from 'postgres'
import { deadlineFactor } from './deadline.ts'
import { lookup } from './dns-cache.ts'

/** `begin` and `reserve` open their own connection, which takes some milliseconds. `end` also closes these connections. */
export type Postgres = postgres.Sql

type Work<Result> = (transaction: postgres.TransactionSql) => Promise<Result>

type Options = postgres.Options<Record<string, postgres.PostgresType>>

export function openPostgres(url: string, maxConnections = 10): Postgres {
  return connectPostgres(url, {
    max: maxConnections,
    connect_timeout: 5 * deadlineFactor,
    // Fast at first, to be back within a second of PostgreSQL; then rarely, so that the server does not lock us out.
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 5),
    connection: { application_name: 'footfall' },
  })
}

/**
 * The address for the driver, which takes no folder of a socket as a host. libpq takes it in two ways: `postgres://me@localhost/db?host=/run`
 * and `postgres://me@%2Frun/db`.
 */
function addressOf(url: string): { url: string; path?: string } {
  const address = new URL(url)
  const folder = address.searchParams.get('host') ?? decodeURIComponent(address.hostname)
  if (!folder.startsWith('/')) return { url }
  const port = address.searchParams.get('port') ?? (address.port || '5432')
  for (const name of ['host', 'port']) address.searchParams.delete(name) // the server would take them for its own settings
  address.hostname = 'localhost'
  return { url: address.href, path: `${folder}/.s.PGSQL.${port}` }
}

export function connectPostgres(given: string, options: Options): Postgres {
  const { url, ...socket } = addressOf(given)
  const sockets = new Set<Socket>()
  const reserved = new Set<Postgres>()
  const common = { ...options, ...socket, onnotice: () => {}, fetch_types: false, types: { texts } }
  const pool = postgres(url, { ...common, socket: open } as Options)
  const endPool = pool.end

  function open(address: Address): Socket {
    for (const other of sockets) if (other.destroyed) sockets.delete(other)
    const socket = openSocket(address)
    sockets.add(socket)
    return socket
  }

  async function reserve(): Promise<postgres.ReservedSql> {
    let socket: Socket | undefined
    const once = (address: Address): Socket => {
      if (socket) return brokenSocket()
      socket = open(address)
      return socket
    }
    const own = { max: 1, max_lifetime: null, backoff: () => 0, socket: once }
    const connection = postgres(url, { ...common, ...own } as Options)
    reserved.add(connection)
    async function release(): Promise<void> {
      reserved.delete(connection)
      await connection.end({ timeout: 1 }).catch(() => {})
      socket?.destroy() // a server that hangs does not close the connection
    }
    try {
      await connection`SELECT 1`
    } catch (error) {
      void release()
      throw error
    }
    return Object.assign(connection, { release: () => void release() })
  }

  /** Like the driver's own: `begin(work)`, or `begin('isolation level repeatable read', work)`. */
  async function begin<Result>(...parameters: [mode: string, Work<Result>] | [Work<Result>]): Promise<Result> {
    const [mode, work] = parameters.length === 2 ? parameters : ['', parameters[0]]
    const connection = await reserve()
    try {
      await connection.unsafe(`BEGIN ${mode}`)
      const result = await work(connection as unknown as postgres.TransactionSql)
      const { command } = await connection`COMMIT`
      // PostgreSQL answers COMMIT with ROLLBACK when a statement failed and the work ignored it.
      if (command === 'ROLLBACK') throw new Error('A statement in the transaction failed, so PostgreSQL rolled it back')
      return result
    } catch (error) {
      await connection`ROLLBACK`.catch(() => {}) // if this fails, closing the connection rolls back
      throw error
    } finally {
      connection.release()
    }
  }

  async function end(how?: { timeout?: number }): Promise<void> {
    await Promise.all([endPool(how), ...Array.from(reserved, (connection) => connection.end(how))])
    for (const socket of sockets) socket.destroy(broken('This process closed the connection to PostgreSQL'))
  }

  return Object.assign(pool, { reserve, begin, end }) as Postgres
}

/**
 * Runs the work in the running transaction, or in a new one. A transaction is used like any other connection, so functions work with and
 * without one.
 */
export function inTransaction<Result>(
  postgres: Postgres,
  work: (transaction: Postgres) => Promise<Result>,
): Promise<Result> {
  if (transactions.has(postgres)) return work(postgres)
  return postgres.begin((connection) => {
    const transaction = connection as unknown as Postgres
    transactions.add(transaction)
    return work(transaction)
  }) as Promise<Result>
}

/** Connections with a transaction. None is used again after its transaction. */
const transactions = new WeakSet<Postgres>()

/** The type text[]. */
const texts = {
  to: 1009,
  from: [1009],
  serialize: (values: readonly (string | null)[]) =>
    `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/[\\"]/g, '\\$&')}"`)).join(',')}}`,
  parse: (text: string) =>
    Array.from(text.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs), ([bare, quoted]) =>
      quoted === undefined ? (bare === 'NULL' ? null : bare) : quoted.replace(/\\(.)/gs, '$1'),
    ),
}

interface Address {
  host: string[]
  port: number[]
  path: string | false
}

function openSocket({ host: [host], port: [port], path }: Address): Socket {
  const socket = path ? connect(path) : connect({ host: host as string, port: port as number, lookup })
  // The driver pauses only after an error. Without one it would reconnect without pause to a server that closes connections at once.
  socket.on('end', () => socket.destroy(broken('PostgreSQL closed the connection')))
  return Object.assign(socket, { host }) // the driver checks the server's certificate against this name
}

/** Stands in for a second connection, which must not be opened. It breaks a moment later, because the driver adds its listeners only then. */
function brokenSocket(): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(broken('The connection to PostgreSQL broke')))
  return socket
}

const broken = (message: string): Error => Object.assign(new Error(message), { code: 'ECONNRESET' })

/** Whether PostgreSQL is unreachable or has no connection left for us, not whether it refuses the login or the statement. */
export function isOutage(error: unknown): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || outages.test(code)
}

const outages =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_(CLOSED|DESTROYED)|08...|53...|57P0[123])$/

/** Creates the database that the URL names, if it is missing. For that it connects to the server's `postgres` database. */
export async function createPostgresDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1) || 'postgres'
  const sql = openPostgres(url)
  try {
    await sql`SELECT 1`
    return
  } catch (error) {
    if ((error as { code?: string }).code !== '3D000') throw error
  } finally {
    await sql.end({ timeout: 1 })
  }
  const server = openPostgres(Object.assign(new URL(url), { pathname: '/postgres' }).href)
  try {
    await server`CREATE DATABASE ${server(name)}`
  } finally {
    await server.end({ timeout: 1 })
  }
}
