// PostgreSQL for reads that a request waits for. They have a time limit, and connections that stop answering are replaced.
import type postgres from 'postgres'
import { type Breaker, createBreaker } from './breaker.ts'
import { deadlineFactor, within } from './deadline.ts'
import { connectPostgres, type Postgres } from './postgres.ts'

/** How long a request waits for one answer from PostgreSQL. */
const standardQueryMs = 250
const statementMs = 200 // shorter than we wait, so that the server frees the connection whenever it can
const refusedLoginMs = 5_000

/**
 * A pool that can be replaced by a new one. The driver does not notice connections that die silently, and it loses some for good when
 * they break at a bad moment. After an outage none of its connections is worth keeping.
 */
export interface RequestPostgres extends Postgres {
  /** Closes all connections. Notifications stop until `listenAgain`. */
  renew(): void
  listenAgain(): void
  /** Does not wait for PostgreSQL, which may hang. */
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
    connect_timeout: 0.3 * deadlineFactor,
    backoff: () => 0.1 + 0.1 * Math.random(), // the breaker's probes decide how often we connect
    connection: { application_name: 'footfall', statement_timeout: deadlineFactor * statementMs },
  })

/** Reads with a time limit. They fail at once while PostgreSQL is down. */
export interface BoundedReads extends Breaker {
  /** Calls `query` a second time if the connection breaks, because the server may still be up. */
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
  // A late query is not cancelled: the driver loses a connection whose first query is cancelled, and ends the process when it cannot
  // cancel.
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

/** Wrong password, unknown role or unknown database. Trying again soon changes nothing and may lock us out. */
const isRefusedLogin = (error: Error): boolean => /^(28...|3D000)$/.test(codeOf(error))

const isBrokenConnection = (error: Error): boolean =>
  /^(57P0[12]|ECONNRESET|EPIPE|CONNECTION_(CLOSED|DESTROYED))$/.test(codeOf(error))

const codeOf = (error: Error & { code?: string }): string => error.code ?? ''
