import type { Readable } from 'node:stream'
import { ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { createBreaker } from './breaker.ts'
import { render, type Sql } from './clickhouse-sql.ts'
import { within } from './deadline.ts'

/** All that answering questions takes. */
export interface ClickHouseReader {
  /** Runs a statement and returns its rows. 64-bit integers arrive as numbers: counts fit, ids must be selected as strings. */
  rows<Row>(statement: Sql, signal?: AbortSignal): Promise<Row[]>
}

export interface ClickHouse extends ClickHouseReader {
  /** Inserts rows and returns when the engine has them; a repeated token within the deduplication window changes nothing. */
  insert(table: string, rows: readonly object[], token: string): Promise<void>
  /** Runs a statement that answers nothing, for as long as it takes: INSERT … SELECT, DELETE. */
  run(statement: Sql, settings?: ClickHouseSettings): Promise<void>
  /** Runs a statement without values: schema changes. */
  command(text: string): Promise<void>
  /** A whole table in ClickHouse's own Native format, and back again. */
  download(table: string): Promise<Readable>
  upload(table: string, content: Readable): Promise<void>
  close(): Promise<void>
}

const readSeconds = 2
const readMs = 2_300 // later than the engine's own limit, so that the engine says what happened whenever it can
const writeMs = 30_000
const patientMs = 3_600_000
const probeMs = 250

// Errors by which the engine says that it is not well, rather than that something is wrong with the question.
const engineUnwell = new Set([
  '159', // TIMEOUT_EXCEEDED
  '194', // REQUIRED_PASSWORD
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '231', // TOO_MANY_UNEXPECTED_DATA_PARTS
  '516', // AUTHENTICATION_FAILED
  '695', // ASYNC_LOAD_WAIT_FAILED
  '722', // ASYNC_LOAD_FAILED
])

/** `url` names host, user, password and, as its path, the database. */
export function openClickHouse(url: string, onChange: (isUp: boolean, cause?: Error) => void = () => {}): ClickHouse {
  const common = {
    url,
    max_open_connections: 16,
    log: { level: 127 as const }, // off: what fails is thrown, and logged once by whoever handles it
  }
  const reader = createClient({
    ...common,
    request_timeout: readMs,
    clickhouse_settings: {
      max_execution_time: readSeconds,
      // An error must never arrive after a 200 has begun.
      wait_end_of_query: 1,
      // A report of one site reads little; one thread each serves 1.1-1.3 times more of them a second.
      max_threads: 1,
      // A client that goes away takes its query with it.
      cancel_http_readonly_queries_on_client_close: 1,
    },
  })
  const writer = createClient({ ...common, request_timeout: writeMs })
  const patient = createClient({ ...common, request_timeout: patientMs })
  const breaker = createBreaker({
    name: 'ClickHouse',
    probe: () =>
      within(
        probeMs,
        'ClickHouse',
        reader.query({ query: 'SELECT 1' }).then((result) => result.text()),
      ),
    isFault: (error) =>
      !(error instanceof Aborted) && (!(error instanceof ClickHouseError) || engineUnwell.has(error.code)),
    onChange,
  })

  async function ask<Row>(statement: Sql, signal?: AbortSignal): Promise<Row[]> {
    const { text, parameters } = render(statement)
    try {
      const result = await reader.query({
        query: text,
        query_params: parameters,
        format: 'JSONEachRow',
        ...(signal && { abort_signal: signal }),
      })
      return await result.json<Row>()
    } catch (error) {
      throw signal?.aborted ? new Aborted('The request was given up', { cause: error }) : error
    }
  }

  return {
    rows: (statement, signal) =>
      breaker.run(async () => {
        try {
          return await ask(statement, signal)
        } catch (error) {
          // A connection that broke says nothing about the engine yet: a read may safely be asked again, once.
          if (!isConnectionError(error)) throw error
          return await ask(statement, signal)
        }
      }),
    async insert(table, rows, token) {
      await writer.insert({
        table,
        values: rows,
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: token, date_time_input_format: 'best_effort' },
      })
    },
    async run(statement, settings = {}) {
      const { text, parameters } = render(statement)
      await patient.command({ query: text, query_params: parameters, clickhouse_settings: settings })
    },
    async command(text) {
      await writer.command({ query: text })
    },
    async download(table) {
      const { stream } = await patient.exec({
        query: 'SELECT * FROM {table:Identifier} FORMAT Native',
        query_params: { table },
      })
      return stream
    },
    async upload(table, content) {
      const { stream } = await patient.exec({
        query: 'INSERT INTO {table:Identifier} FORMAT Native',
        query_params: { table },
        values: content,
        // Old months and new ones arrive together.
        clickhouse_settings: { max_partitions_per_insert_block: '0' },
      })
      stream.resume()
    },
    async close() {
      breaker.close()
      await Promise.all([reader.close(), writer.close(), patient.close()])
    },
  }
}

/** Makes the database that the address names, if it is missing. */
export async function createClickHouseDatabase(url: string): Promise<void> {
  const address = new URL(url)
  const name = address.pathname.slice(1)
  address.pathname = '/'
  const client = createClient({ url: address, request_timeout: writeMs })
  try {
    if (name) {
      await client.command({ query: 'CREATE DATABASE IF NOT EXISTS {name:Identifier}', query_params: { name } })
    }
  } finally {
    await client.close()
  }
}

class Aborted extends Error {}

const isConnectionError = (error: unknown): boolean =>
  !(error instanceof Aborted) &&
  ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')
