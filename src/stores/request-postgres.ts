// PostgreSQL for what a request waits for: bounded reads, through connections that are replaced when they stop answering.
import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import { type Breaker, createBreaker } from './breaker.ts'
import { within } from './deadline.ts'
import { lookup } from './lookup.ts'
import type { Postgres } from './postgres.ts'

/** What a request may wait for one answer of PostgreSQL. */
const standardQueryMs = 250
const statementMs = 200 // sooner than we stop waiting, so that the server frees the connection whenever it can
const refusedLoginMs = 5_000

/**
 * A pool that can be exchanged for a new one. The driver does not notice when connections die in silence, and loses some for
 * good when they break at a bad moment; after an outage nothing of it is worth keeping.
 */
export interface RequestPostgres extends Postgres {
  /** Gives up all connections. Nobody listens until `listenAgain`. */
  renew(): void
  listenAgain(): void
  /** Does not wait for goodbyes: a PostgreSQL that hangs says none. */
  close(): Promise<void>
}

export function openRequestPostgres(url: string): RequestPostgres {
  let current = openPool(url)
  let isListening = true
  const listens: Parameters<Postgres['listen']>[] = []
  const own = {
    listen(...listen: Parameters<Postgres['listen']>) {
      listens.push(listen)
      return current.sql.listen(...listen)
    },
    renew() {
      void current.close()
      current = openPool(url)
      isListening = false
    },
    listenAgain() {
      if (!isListening) for (const listen of listens) current.sql.listen(...listen).catch(() => {})
      isListening = true
    },
    close: () => current.close(),
  }
  return new Proxy(current.sql, {
    apply: (_first, _this, query: Parameters<Postgres>) => current.sql(...query),
    get: (_first, name) => Reflect.get(name in own ? own : current.sql, name),
  }) as RequestPostgres
}

interface Pool {
  sql: Postgres
  close(): Promise<void>
}

function openPool(url: string): Pool {
  const sockets = new Set<Socket>()
  const options = {
    max: 10,
    connect_timeout: 0.3,
    backoff: () => 0.1 + 0.1 * Math.random(), // how often we connect is for the breaker's probes to say
    onnotice: () => {},
    connection: { application_name: 'footfall', statement_timeout: statementMs },
    // The driver would read the types of arrays for each connection, and the process ends when that breaks off.
    fetch_types: false,
    types: { texts },
    socket: (address: Address) => openSocket(sockets, address),
  }
  const sql = postgres(url, options)
  return {
    sql,
    async close() {
      await sql.end({ timeout: 0 })
      for (const socket of sockets) socket.destroy(broken('The connection to PostgreSQL was given up'))
    },
  }
}

/** text[], which is only read. */
const texts = {
  to: 1009,
  from: [1009],
  serialize: String,
  parse: (text: string) =>
    Array.from(
      text.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/g),
      ([bare, quoted]) => quoted?.replace(/\\(.)/g, '$1') ?? bare,
    ),
}

interface Address {
  host: string[]
  port: number[]
  path: string | false
}

function openSocket(sockets: Set<Socket>, { host: [host], port: [port], path }: Address): Socket {
  for (const known of sockets) if (known.destroyed) sockets.delete(known)
  const socket = path ? connect(path) : connect({ host: host as string, port: port as number, lookup })
  sockets.add(socket)
  // A server that hangs up before it said a word would be called again without pause: the driver waits only after an error.
  socket.on('end', () => socket.destroy(broken('PostgreSQL closed the connection')))
  return Object.assign(socket, { host }) // whose certificate the driver is to expect
}

const broken = (message: string) => Object.assign(new Error(message), { code: 'ECONNRESET' })

/** Bounded, and refused at once while PostgreSQL does not answer. */
export interface BoundedReads extends Breaker {
  /** `query` makes the query: a connection that broke under it says nothing about the server yet, so it is asked again, once. */
  read<Rows extends readonly postgres.MaybeRow[]>(
    query: () => postgres.PendingQuery<Rows & postgres.MaybeRow[]>,
  ): Promise<Rows>
}

export function boundReads(
  sql: Postgres | RequestPostgres,
  onChange: (isUp: boolean, cause?: Error) => void,
  queryMs = standardQueryMs,
): BoundedReads {
  const { renew, listenAgain } = sql as Partial<RequestPostgres>
  // Not cancelled when late: the driver loses a connection whose first query was, and the process when it cannot cancel.
  const bounded = <Value>(query: Promise<Value>) => within(queryMs, 'PostgreSQL', query)
  const breaker = createBreaker({
    name: 'PostgreSQL',
    async probe() {
      try {
        await bounded(sql`SELECT 1`)
      } catch (error) {
        renew?.()
        throw error
      }
    },
    isFault: () => true,
    patience: (cause) => (isRefusedLogin(cause) ? refusedLoginMs : undefined),
    onChange(isUp, cause) {
      if (isUp) listenAgain?.()
      onChange(isUp, cause)
    },
  })
  return {
    ...breaker,
    read: (query) =>
      breaker.run(() =>
        bounded(query()).catch((error) => {
          if (!isBrokenConnection(error)) throw error
          return bounded(query())
        }),
      ),
  }
}

/** Wrong password, unknown role or database: asking again soon changes nothing and may lock us out. */
const isRefusedLogin = (error: Error): boolean => /^(28...|3D000)$/.test(codeOf(error))

const isBrokenConnection = (error: Error): boolean =>
  /^(57P0[12]|ECONNRESET|EPIPE|CONNECTION_(CLOSED|DESTROYED))$/.test(codeOf(error))

const codeOf = (error: Error & { code?: string }): string => error.code ?? ''
