// Every connection to PostgreSQL is made here, so that one that breaks rejects promises and nothing else (decision D-136). postgres.js
// throws outside of any promise, which ends the process, when a connection breaks
// - while it reads the types of arrays, which it does for each new connection: we tell it the one type of array we have;
// - under its own begin() and reserve(): they write to a connection that is gone, or that somebody else was given meanwhile. Ours
//   have a connection of their own, which is never replaced;
// - while a query is cancelled, or under cursor(): nothing that runs for long may use these.
import { connect, Socket } from 'node:net'
import postgres from 'postgres'
import { lookup } from './lookup.ts'

/** `begin` and `reserve` open a connection of their own, which takes some milliseconds; `end` closes these too. */
export type Postgres = postgres.Sql

type Work<Result> = (transaction: postgres.TransactionSql) => Promise<Result>

type Options = postgres.Options<Record<string, postgres.PostgresType>>

export function openPostgres(url: string, mostConnections = 10): Postgres {
  return connectPostgres(url, {
    max: mostConnections,
    connect_timeout: 5,
    // Quick at first, so that we are back within a second of PostgreSQL, then rarely, so that nobody is locked out for trying.
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 5),
    connection: { application_name: 'footfall' },
  })
}

const answerMs = 15_000

/**
 * Rejects when PostgreSQL has said nothing after 15 s, and only then. The driver connects again without end to a server that closes the
 * connection before it has said anything, such as one that speaks HTTP.
 */
export async function expectAnswer(sql: Postgres): Promise<void> {
  const answer = sql`SELECT 1`.then(
    () => true,
    () => true,
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, answerMs, false)
  })
  const hasAnswered = await Promise.race([answer, late])
  clearTimeout(timer)
  if (!hasAnswered) throw Object.assign(new Error(`no answer within ${answerMs / 1000} s`), { code: 'CONNECT_TIMEOUT' })
}

export function connectPostgres(url: string, options: Options): Postgres {
  const sockets = new Set<Socket>()
  const reserved = new Set<Postgres>()
  const common = { ...options, onnotice: () => {}, fetch_types: false, types: { texts } }
  const pool = postgres(url, { ...common, socket: open } as Options)
  const endPool = pool.end

  function open(address: Address): Socket {
    for (const known of sockets) if (known.destroyed) sockets.delete(known)
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
      socket?.destroy() // a server that hangs says no goodbye
    }
    try {
      await connection`SELECT 1`
    } catch (error) {
      void release()
      throw error
    }
    return Object.assign(connection, { release: () => void release() })
  }

  /** As the driver's own: `begin(work)`, or `begin('isolation level repeatable read', work)`. */
  async function begin<Result>(...given: [mode: string, Work<Result>] | [Work<Result>]): Promise<Result> {
    const [mode, work] = given.length === 2 ? given : ['', given[0]]
    const connection = await reserve()
    try {
      await connection.unsafe(`BEGIN ${mode}`)
      const result = await work(connection as unknown as postgres.TransactionSql)
      const { command } = await connection`COMMIT`
      // What PostgreSQL makes of it when a statement had failed and nobody minded.
      if (command === 'ROLLBACK')
        throw new Error('A statement of the transaction failed, and PostgreSQL undid all of it')
      return result
    } catch (error) {
      await connection`ROLLBACK`.catch(() => {}) // then the end of the connection undoes it
      throw error
    } finally {
      connection.release()
    }
  }

  async function end(how?: { timeout?: number }): Promise<void> {
    await Promise.all([endPool(how), ...Array.from(reserved, (connection) => connection.end(how))])
    for (const socket of sockets) socket.destroy(broken('The connection to PostgreSQL was given up'))
  }

  return Object.assign(pool, { reserve, begin, end }) as Postgres
}

/** text[]. */
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
  // A server that hangs up before it said a word would be called again without pause: the driver waits only after an error.
  socket.on('end', () => socket.destroy(broken('PostgreSQL closed the connection')))
  return Object.assign(socket, { host }) // whose certificate the driver is to expect
}

/** Instead of a second connection. Not at once: the driver begins to listen to it a moment later. */
function brokenSocket(): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(broken('The connection to PostgreSQL broke')))
  return socket
}

const broken = (message: string): Error => Object.assign(new Error(message), { code: 'ECONNRESET' })

/** Whether PostgreSQL cannot be reached or has no room for us, rather than refuses who asks or what is asked. */
export function isOutage(error: unknown): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || outages.test(code)
}

const outages =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_(CLOSED|DESTROYED)|08...|53...|57P0[123])$/

/** Makes the database that the address names, if it is missing: asked of the server's own `postgres` database. */
export async function createPostgresDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1) || 'postgres'
  const sql = openPostgres(url)
  try {
    await Promise.race([sql`SELECT 1`, expectAnswer(sql)])
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
