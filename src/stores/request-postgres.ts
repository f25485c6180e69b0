// PostgreSQL for what a request waits for: bounded reads, through connections that are replaced when they stop answering.
import type postgres from 'postgres'
import { type Breaker, createBreaker } from './breaker.ts'
import { within } from './deadline.ts'
import { connectPostgres, type Postgres } from './postgres.ts'

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
  const close = () => current.end({ timeout: 0 })
  const own = {
    listen(...listen: Parameters<Postgres['listen']>) {
      listens.push(listen)
      return current.listen(...listen)
    },
    renew() {
      void close()
      current = openPool(url)
      isListening = false
    },
    listenAgain() {
      if (!isListening) for (const listen of listens) current.listen(...listen).catch(() => {})
      isListening = true
    },
    close,
  }
  return new Proxy(current, {
    apply: (_first, _this, query: Parameters<Postgres>) => current(...query),
    get: (_first, name) => Reflect.get(name in own ? own : current, name),
  }) as RequestPostgres
}

const openPool = (url: string): Postgres =>
  connectPostgres(url, {
    max: 10,
    connect_timeout: 0.3,
    backoff: () => 0.1 + 0.1 * Math.random(), // how often we connect is for the breaker's probes to say
    connection: { application_name: 'footfall', statement_timeout: statementMs },
  })

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
