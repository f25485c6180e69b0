import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { ClickHouseError, type ClickHouseSettings, createClient, type ResultSet } from '@clickhouse/client'
import { createBreaker, Unavailable } from './breaker.ts'
import { render, type Sql, type Statement } from './clickhouse-sql.ts'
import { within } from './deadline.ts'
import { lookup } from './lookup.ts'

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
  /** The rows of a statement that nobody waits for: no limit of two seconds. */
  rowsPatiently<Row>(statement: Sql, settings?: ClickHouseSettings): Promise<Row[]>
  /** Runs a statement without values, for as long as it takes: schema changes. Throws `Unavailable` when the engine goes away. */
  command(text: string): Promise<void>
  /** A whole table, or its rows of days before one, in ClickHouse's own Native format; and back again. */
  download(table: string, before?: string): Promise<Readable>
  upload(table: string, content: Readable): Promise<void>
  close(): Promise<void>
}

const readSeconds = 2
const readMs = 2_300 // later than the engine's own limit, so that the engine says what happened whenever it can
const writeMs = 30_000
const patientMs = 3_600_000
const probeMs = 250
const refusedLoginMs = 5_000

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
  const { Agent } = url.startsWith('https:') ? https : http
  const reader = createClient({
    ...common,
    http_agent: new Agent({ keepAlive: true, maxSockets: common.max_open_connections, lookup }),
    request_timeout: 2 * readMs, // never first: the deadline of ask() also holds while an answer trickles in
    clickhouse_settings: {
      max_execution_time: readSeconds,
      // An error must never arrive after a 200 has begun.
      wait_end_of_query: 1,
      // A report of one site reads little; one thread each serves 1.1-1.3 times more of them a second.
      max_threads: 1,
      // There are none to look for, which takes 3 % of an answer of few rows.
      optimize_use_projections: 0,
      optimize_use_implicit_projections: 0,
      // A client that goes away takes its query with it: the engine allows that only to queries that cannot write.
      cancel_http_readonly_queries_on_client_close: 1,
      readonly: '2',
    },
  })
  const writer = createClient({ ...common, request_timeout: writeMs })
  const patient = createClient({ ...common, request_timeout: patientMs })
  const breaker = createBreaker({
    name: 'ClickHouse',
    probe: () => ask({ query: 'SELECT 1' }, probeMs),
    isFault,
    // A wrong password stays wrong; asking again soon only fills the engine's log.
    patience: ({ code }: Error & { code?: string }) => (code === '516' || code === '194' ? refusedLoginMs : undefined),
    onChange,
  })

  async function ask<Row>(question: Question, longestMs: number, given?: AbortSignal): Promise<Row[]> {
    const late = new AbortController()
    const signal = given ? AbortSignal.any([given, late.signal]) : late.signal
    const answer = reader
      .query({ ...question, format: 'JSONEachRow', abort_signal: signal })
      .then((result) => readAll<Row>(result, signal))
    try {
      return await within(longestMs, 'ClickHouse', answer, () => late.abort())
    } catch (error) {
      throw given?.aborted ? new Aborted('The request was given up', { cause: error }) : error
    }
  }

  return {
    rows: (statement, signal) =>
      breaker.run(async () => {
        const { text, parameters } = render(statement)
        const question = { query: text, query_params: parameters }
        try {
          return await ask(question, readMs, signal)
        } catch (error) {
          // A connection that broke says nothing about the engine yet, and a full engine has room again in a moment: a read
          // may safely be asked again, once.
          if (isFull(error)) await pause(50 + 100 * Math.random())
          else if (!isConnectionError(error)) throw error
          return await ask(question, readMs, signal)
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
    async rowsPatiently<Row>(statement: Sql, settings: ClickHouseSettings = {}) {
      const { text, parameters } = render(statement)
      const result = await patient.query({
        query: text,
        query_params: parameters,
        format: 'JSONEachRow',
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
      })
      return result.json<Row>()
    },
    async command(text) {
      await patient.command({ query: text }).catch((error: Error) => {
        if (!isFault(error)) throw error
        throw new Unavailable(`ClickHouse does not answer: ${error.message}`, { cause: error })
      })
    },
    async download(table, before) {
      const rows = before === undefined ? '' : ' WHERE day < {before:Date}'
      const { stream } = await patient.exec({
        query: `SELECT * FROM {table:Identifier}${rows} FORMAT Native`,
        query_params: { table, ...(before !== undefined && { before }) },
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
  const client = createClient({ url: address, request_timeout: writeMs, log: { level: 127 } })
  try {
    if (name) {
      await client.command({ query: 'CREATE DATABASE IF NOT EXISTS {name:Identifier}', query_params: { name } })
    }
  } finally {
    await client.close()
  }
}

/** The driver lets go of the signal as soon as an answer has begun, but one that never ends must not keep its turn. */
async function readAll<Row>(result: ResultSet<'JSONEachRow'>, signal: AbortSignal): Promise<Row[]> {
  const cut = () => result.close()
  signal.addEventListener('abort', cut)
  try {
    return await result.json<Row>()
  } finally {
    signal.removeEventListener('abort', cut)
  }
}

interface Question {
  query: string
  query_params?: Statement['parameters']
}

// What is wrong with a row rather than with the engine: sending it again changes nothing.
const badData = new Set([
  '6', // CANNOT_PARSE_TEXT
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '70', // CANNOT_CONVERT_TYPE
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '131', // TOO_LARGE_STRING_SIZE
  '321', // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  '376', // CANNOT_PARSE_UUID
  '469', // VIOLATED_CONSTRAINT
])

export const isBadData = (error: unknown): boolean => error instanceof ClickHouseError && badData.has(error.code)

/** The statement needed more memory than it may have. */
export const isOutOfMemory = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '241'

class Aborted extends Error {}

const isFault = (error: unknown): boolean =>
  !(error instanceof Aborted) && (!(error instanceof ClickHouseError) || engineUnwell.has(error.code))

const isFull = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '202'

const isConnectionError = (error: unknown): boolean =>
  !(error instanceof Aborted) &&
  ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')
