import { randomUUID } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type ClickHouseSettings, createClient, parseError, type ResultSet } from '@clickhouse/client'
import type { Logger } from 'pino'
import { hourMs } from '../durations.ts'
import { createBreaker, Unavailable } from './breaker.ts'
import { Aborted, isConnectionError, isFault, isFull, refuseOthers } from './clickhouse-errors.ts'
import { explainTo, type QueryRequest } from './clickhouse-explain.ts'
import { render, type Sql } from './clickhouse-sql.ts'
import { deadlineFactor, within } from './deadline.ts'
import { lookup } from './dns-cache.ts'

/** The part of ClickHouse that queries need. */
export interface ClickHouseReader {
  /** Runs a statement and returns its rows. 64-bit integers arrive as numbers: counts fit, ids must be selected as strings. */
  rows<Row>(statement: Sql, signal?: AbortSignal, limits?: ReadLimits): Promise<Row[]>
}

/** By default a statement has two seconds and one thread. */
export interface ReadLimits {
  seconds: number
  threads: number
  bytes: number
}

export interface ClickHouse extends ClickHouseReader {
  /** The number of the shard, as in `sites.shard`. */
  readonly shard: number
  /** The servers with the same rows, if there are several (replicas.ts). */
  readonly replicas?: Replicas
  /** The version of the server. Throws `NotClickHouse` if something else answers. */
  version(): Promise<string>
  /**
   * Inserts rows and resolves when ClickHouse has stored them. A token repeated within the deduplication window inserts nothing.
   * Returns undefined, or the replica that may be the only one with the rows. `into`: what comes after INSERT INTO, for example a table.
   */
  insert(into: string, rows: readonly object[], token: string, options?: InsertOptions): Promise<ClickHouse | undefined>
  /** Runs a statement that returns no rows, for as long as it takes: INSERT … SELECT, DELETE. Waits until all replicas have inserted rows. */
  run(statement: Sql, settings?: ClickHouseSettings): Promise<void>
  /** The rows of a statement that no request waits for. The limit of two seconds does not apply. */
  rowsPatiently<Row>(statement: Sql, settings?: ClickHouseSettings, onTime?: OnTime): Promise<Row[]>
  /** Runs a statement without values, for as long as it takes: schema changes. Throws `Unavailable` when ClickHouse is down. */
  command(text: string): Promise<void>
  /** Streams the rows of a SELECT in ClickHouse's Native format. `upload` inserts them again. */
  download(statement: Sql): Promise<Readable>
  /** ClickHouse refuses a second upload under the same id while one is running. Resolves when all replicas have the rows. */
  upload(table: string, content: Readable, id?: string, settings?: ClickHouseSettings): Promise<void>
  close(): Promise<void>
}

/** Called with the time that ClickHouse spent on a statement. With one thread it is the most CPU that the statement can have taken. */
type OnTime = (milliseconds: number) => void

interface InsertOptions {
  settings?: ClickHouseSettings
  signal?: AbortSignal
}

/** The servers of a shard. ClickHouse copies rows from one to the others. */
interface Replicas {
  readonly all: readonly ClickHouse[]
  /** A replica that has every row that any replica had confirmed before this call. */
  worker(): Promise<ClickHouse>
  /** Names the replicas that lack a row that any replica had confirmed before this call. Undefined if there is none. */
  incomplete(): Promise<string | undefined>
}

/** Whether a replica lacks rows. Rows that are written meanwhile may be on one disk only. */
export const isIncomplete = async ({ replicas }: ClickHouse): Promise<boolean> =>
  (await replicas?.incomplete()) !== undefined

/** Each server of a shard. */
export const serversOf = (clickhouse: ClickHouse): readonly ClickHouse[] => clickhouse.replicas?.all ?? [clickhouse]

const readSeconds = 2
const readMs = 2_300 // longer than ClickHouse's own limit, so that ClickHouse can report the cause itself
const writeMs = 30_000
const probeMs = 250
const refusedLoginMs = 5_000

interface ClickHouseOptions {
  shard?: number
  onChange?(isUp: boolean, cause?: Error): void
  /** Gets every read statement with its plan. */
  log?: Logger | undefined
}

/** `url` names the host, the user, the password and, as its path, the database. */
export function openClickHouse(
  url: string,
  { shard = 1, onChange = () => {}, log }: ClickHouseOptions = {},
): ClickHouse {
  const common = {
    url,
    max_open_connections: 16,
    log: { level: 127 as const }, // off: errors are thrown, and the caller that handles one logs it once
  }
  const { Agent } = url.startsWith('https:') ? https : http
  const reader = createClient({
    ...common,
    http_agent: new Agent({ keepAlive: true, maxSockets: common.max_open_connections, lookup }),
    request_timeout: 4 * deadlineFactor * readMs, // never fires first: the deadline in ask() also covers an answer that trickles in
    clickhouse_settings: {
      max_execution_time: deadlineFactor * readSeconds,
      // ClickHouse must never send an error after a 200.
      wait_end_of_query: 1,
      // A report on one site reads little. With one thread per query, ClickHouse answers 1.1-1.3 times more queries per second.
      max_threads: 1,
      // The query log of ClickHouse would store what clients send, also a key that somebody put into a filter by mistake.
      log_queries: 0,
      // There are no projections, and looking for them takes 3 % of the time of a small answer.
      optimize_use_projections: 0,
      optimize_use_implicit_projections: 0,
      // ClickHouse cancels the query when the client disconnects. It does so only for queries that cannot write.
      cancel_http_readonly_queries_on_client_close: 1,
      readonly: '2',
    },
  })
  const writer = createClient({ ...common, request_timeout: writeMs })
  const patient = createClient({
    ...common,
    request_timeout: hourMs,
    clickhouse_settings: {
      // A replicated table would skip rows that were written, deleted and are written again.
      insert_deduplicate: 0,
      // A replica that is down deletes the rows when it is back. By default ClickHouse would wait for it.
      lightweight_deletes_sync: '1',
    },
  })
  const breaker = createBreaker({
    name: 'ClickHouse',
    probe: () => ask({ query: 'SELECT 1' }, probeMs),
    isFault,
    // A wrong password stays wrong. Frequent probes would only fill ClickHouse's log.
    patience: ({ code }: Error & { code?: string }) => (code === '516' || code === '194' ? refusedLoginMs : undefined),
    onChange,
  })

  const explain =
    log && explainTo(log, async (request) => (await reader.query({ ...request, format: 'JSONEachRow' })).json())

  async function ask<Row>(request: QueryRequest, timeoutMs: number, callerSignal?: AbortSignal): Promise<Row[]> {
    const late = new AbortController()
    const signal = callerSignal ? AbortSignal.any([callerSignal, late.signal]) : late.signal
    const response = reader.query({ ...request, format: 'JSONEachRow', abort_signal: signal })
    void explain?.(request, response)
    const rows = response.then((result) => {
      refuseOthers(url, result.response_headers)
      return readAll<Row>(result, signal)
    })
    try {
      return await within(timeoutMs, 'ClickHouse', rows, () => late.abort())
    } catch (error) {
      throw callerSignal?.aborted ? new Aborted('The caller aborted the query', { cause: error }) : error
    }
  }

  return {
    shard,
    version: () =>
      breaker.run(async () => {
        const late = new AbortController()
        const request = { query: 'SELECT version()', ignore_error_response: true, abort_signal: late.signal }
        const answer = reader.exec(request).then(async ({ stream, response_headers, http_status_code = 200 }) => {
          refuseOthers(url, response_headers, http_status_code)
          const text = await textOf(stream)
          if (http_status_code >= 400) throw parseError(text)
          return text.trim()
        })
        return within(readMs, 'ClickHouse', answer, () => late.abort())
      }),
    rows: (statement, signal, limits) =>
      breaker.run(async () => {
        const { text, parameters } = render(statement)
        const request = {
          query: text,
          query_params: parameters,
          ...(limits && { clickhouse_settings: settingsOf(limits) }),
        }
        const timeoutMs = limits ? 1000 * limits.seconds + readMs - 1000 * readSeconds : readMs
        try {
          return await ask(request, timeoutMs, signal)
        } catch (error) {
          // A broken connection does not mean that ClickHouse is down, and a full ClickHouse has room again in a moment. A read is
          // safe to repeat: try once more.
          if (isFull(error)) await pause(50 + 100 * Math.random())
          else if (!isConnectionError(error)) throw error
          return await ask(request, timeoutMs, signal)
        }
      }),
    async insert(into, rows, token, { settings = {}, signal } = {}) {
      const { response_headers } = await writer.insert({
        table: into,
        values: rows,
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: token, date_time_input_format: 'best_effort', ...settings },
        ...(signal && { abort_signal: signal }),
      })
      refuseOthers(url, response_headers)
      return undefined
    },
    async run(statement, settings = {}) {
      const { text, parameters } = render(statement)
      await patient.command({ query: text, query_params: parameters, clickhouse_settings: settings })
    },
    async rowsPatiently<Row>(statement: Sql, settings: ClickHouseSettings = {}, onTime?: OnTime) {
      const { text, parameters } = render(statement)
      const result = await patient.query({
        query: text,
        query_params: parameters,
        format: 'JSONEachRow',
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
      })
      onTime?.(millisecondsOf(result.response_headers))
      return result.json<Row>()
    },
    async command(text) {
      await patient.command({ query: text }).catch((error: Error) => {
        if (!isFault(error)) throw error
        throw new Unavailable(`ClickHouse does not answer: ${error.message}`, { cause: error })
      })
    },
    async download(statement) {
      const { text, parameters } = render(statement)
      const { stream } = await patient.exec({ query: `${text} FORMAT Native`, query_params: parameters })
      return stream
    },
    async upload(table, content, id, settings = {}) {
      const { stream } = await patient.exec({
        ...(id !== undefined && { query_id: id }),
        query: 'INSERT INTO {table:Identifier} FORMAT Native',
        query_params: { table },
        values: content,
        // One block may hold rows of many months. With a new token, rows that were uploaded and deleted before are not skipped.
        clickhouse_settings: {
          max_partitions_per_insert_block: '0',
          insert_deduplication_token: randomUUID(),
          ...settings,
        },
      })
      stream.resume()
    },
    async close() {
      breaker.close()
      await Promise.all([reader.close(), writer.close(), patient.close()])
    },
  }
}

/** With `wait_end_of_query` the summary comes when the statement has ended. */
const millisecondsOf = ({ 'x-clickhouse-summary': summary }: ResultSet<'JSONEachRow'>['response_headers']): number =>
  Number(JSON.parse(String(summary)).elapsed_ns) / 1e6

const settingsOf = ({ seconds, threads, bytes }: ReadLimits): ClickHouseSettings => ({
  max_execution_time: deadlineFactor * seconds,
  max_threads: threads,
  max_memory_usage: `${bytes}`,
})

/** Creates the database that the URL names, if it is missing. */
export async function createClickHouseDatabase(url: string): Promise<void> {
  const address = new URL(url)
  const name = address.pathname.slice(1)
  address.pathname = '/'
  const client = createClient({ url: address, request_timeout: writeMs, log: { level: 127 } })
  try {
    if (name) {
      await client.command({ query: 'CREATE DATABASE IF NOT EXISTS {name:Identifier}', query_params: { name } })
    }
  } finally {
    await client.close()
  }
}

/** The driver ignores the signal once an answer has begun. Without this, an answer that never ends would block the fair queue. */
async function readAll<Row>(result: ResultSet<'JSONEachRow'>, signal: AbortSignal): Promise<Row[]> {
  const cut = () => result.close()
  signal.addEventListener('abort', cut)
  try {
    return await result.json<Row>()
  } finally {
    signal.removeEventListener('abort', cut)
  }
}
