// What the functions of index.d.ts and v2.d.ts take and return besides parameters and data.
import type { ErrorCode as ReportErrorCode } from './index.js'
import type { ErrorCode as QuestionErrorCode } from './v2.js'

/** A Footfall server: its address and an API key. */
export interface Server {
  /** `https://stats.example.com`, with or without `/api/v1` or `/api/v2`. */
  url: string | URL
  /** Without a key the API refuses the request, so a variable of the environment may be passed as it is. */
  key: string | undefined
  /** How long a call may wait for `Retry-After` in total, in seconds. The default is 0: a call throws at once. */
  waitSeconds?: number | undefined
}

export interface Options {
  /** Ends the request, and the waiting for `Retry-After`. */
  signal?: AbortSignal | undefined
}

/** What the headers of a response say. */
export interface FromHeaders {
  /** The period that the range covered. */
  period: Period
  /** The period that it was compared with. */
  previousPeriod: Period
  /** The number of rows without the limit; only if the limit cut the list. */
  totalRows: number | undefined
  /** Sentences about parameters that had no effect, and remarks about the numbers. */
  warnings: string[]
  rateLimit: RateLimit
  /** The id of the request in the logs of the server. */
  requestId: string
}

/** ISO 8601 with the offset of the site's time zone. */
export interface Period {
  start: string
  /** Not included. */
  end: string
}

export interface RateLimit {
  /** Requests per hour that the plan allows. */
  limit: number
  /** Requests left in this window. */
  remaining: number
  /** When the window ends. */
  reset: Date
}

/** Thrown when the API refuses a request, or when something other than the API answers. */
export declare class FootfallError extends Error {
  name: 'FootfallError'
  /** Decide by the code; `message` is for people and may change. */
  code: ReportErrorCode | QuestionErrorCode | 'unexpected_response'
  /** The status of HTTP. */
  status: number
  /** Seconds to wait before the next try, if the server named them. */
  retryAfter: number | undefined
  rateLimit: RateLimit | undefined
  requestId: string | undefined
}
