// What an error of ClickHouse means: for the query, for the server, and for the address that it was sent to.
import { ClickHouseError } from '@clickhouse/client'
import { Unavailable } from './breaker.ts'

// Errors that mean that ClickHouse is unhealthy, not that the query is wrong.
const clickhouseUnwell = new Set([
  '159', // TIMEOUT_EXCEEDED
  '194', // REQUIRED_PASSWORD
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '231', // TOO_MANY_UNEXPECTED_DATA_PARTS
  '516', // AUTHENTICATION_FAILED
  '695', // ASYNC_LOAD_WAIT_FAILED
  '722', // ASYNC_LOAD_FAILED
])

// Errors about a row, not about ClickHouse: sending the row again changes nothing.
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

/** The statement needed more memory than its limit. */
export const isOutOfMemory = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '241'

/** The result is larger than `max_result_bytes` of the statement. */
export const isTooLarge = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '396'

/** One replica may have the rows, and not enough others do. */
export const isWithoutQuorum = (error: unknown): boolean =>
  error instanceof ClickHouseError && (error.code === '285' || error.code === '319')

/** The replica cannot answer, and another one may: it is down, or it has no tables because its disk was replaced. */
export const isReplicaUnwell = (error: unknown): boolean =>
  error instanceof Unavailable || (error instanceof ClickHouseError && (error.code === '60' || error.code === '81'))

export class Aborted extends Error {}

/** Waiting does not help: something else answers at the address. */
class NotClickHouse extends Error {
  readonly code = 'NOT_CLICKHOUSE'
}

export const isFault = (error: unknown): boolean =>
  !(error instanceof Aborted || error instanceof NotClickHouse) &&
  (!(error instanceof ClickHouseError) || clickhouseUnwell.has(error.code))

export const isFull = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '202'

export const isConnectionError = (error: unknown): boolean =>
  !(error instanceof Aborted) &&
  ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')

/** A proxy answers with these while its ClickHouse is away. */
const awayStatuses = [502, 503, 504]

/** A server that says 200 to everything would otherwise swallow events, and look like a ClickHouse without any. */
export function refuseOthers(url: string, headers: Record<string, unknown>, status = 200): void {
  if (Object.keys(headers).some((name) => name.startsWith('x-clickhouse-'))) return
  if (awayStatuses.includes(status)) throw new Error(`${new URL(url).origin} answers with HTTP ${status}`)
  throw new NotClickHouse(`${new URL(url).origin} answers with HTTP ${status} and no header of ClickHouse`)
}
