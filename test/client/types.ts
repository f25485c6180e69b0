// Compiled and never run: what the types of the client accept, and what they refuse.
import {
  countries,
  type ErrorCode,
  FootfallError,
  overview,
  type PagesRow,
  pages,
  sites,
  sitesOverview,
  timeseries,
} from '../../packages/client/index.js'
import { breakdown, type ErrorCode as QuestionErrorCode, totals } from '../../packages/client/v2.js'

declare const environment: Record<string, string | undefined>

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false
const isTrue = <_Claim extends true>() => {}

const server = { url: 'https://stats.example.com', key: environment.FOOTFALL_KEY }

export async function accepted(signal: AbortSignal, country: string | undefined, cursor: string | null) {
  const { data, meta, period, previousPeriod, rateLimit, warnings, requestId } = await overview(server)
  isTrue<Same<typeof data.current.visitors, number>>()
  isTrue<Same<typeof data.change.visitors, number | null>>()
  isTrue<Same<typeof meta.generated_at, string>>()
  isTrue<Same<typeof period, typeof previousPeriod>>()
  isTrue<Same<typeof period, { start: string; end: string }>>()
  isTrue<Same<typeof rateLimit.reset, Date>>()
  isTrue<Same<typeof warnings, string[]>>()
  isTrue<Same<typeof requestId, string>>()

  const top = await pages({ ...server, waitSeconds: 5 }, { range: '7d', country, hostname: null, limit: 5 }, { signal })
  isTrue<Same<typeof top.data, PagesRow[]>>()
  isTrue<Same<typeof top.totalRows, number | undefined>>()
  isTrue<Same<PagesRow, { pathname: string; title: string; views: number; visitors: number }>>()
  await timeseries({ url: new URL('https://stats.example.com'), key: 'ff_s_' }, {}, { signal: undefined })

  await overview(server, { range: 'custom', start: '2026-01-01', end: '2026-01-31', country })
  await overview(server, { range: undefined, start: null })
  await sitesOverview(server, { range: 'custom', start: '2026-01-01', end: '2026-01-31', cursor })
  await sites(server, { limit: 50, cursor })

  const { data: all } = await sites(server)
  isTrue<Same<(typeof all)[0], { site_id: string; domain: string; time_zone: string }>>()
  const page = await sitesOverview(server, { range: '7d', limit: 200, cursor })
  isTrue<Same<typeof page.meta.next_cursor, string | null>>()
  isTrue<Same<(typeof page.data)[0]['current'], typeof data.current>>()
  await countries({ url: 'https://stats.example.com' }, { signal })
}

export async function refused() {
  // @ts-expect-error a server needs an address
  await overview({ key: 'ff_s_' })
  // @ts-expect-error a key must not be forgotten
  await overview({ url: 'https://stats.example.com' })
  // @ts-expect-error there is no such range
  await overview(server, { range: '8d' })
  // @ts-expect-error a custom range needs its dates
  await overview(server, { range: 'custom' })
  // @ts-expect-error both of them
  await timeseries(server, { range: 'custom', start: '2026-01-01' })
  // @ts-expect-error on the overview of all sites, too
  await sitesOverview(server, { range: 'custom', end: '2026-01-31', limit: 5 })
  // @ts-expect-error a date that may be missing is none
  await overview(server, { range: 'custom', start: undefined, end: null })
  // @ts-expect-error numbers are numbers
  await pages(server, { limit: '5' })
  // @ts-expect-error there is no such parameter
  await pages(server, { browser: 'Firefox' })
  // @ts-expect-error there is no such device
  await pages(server, { device: 'watch' })
  // @ts-expect-error a signal is one of the options
  await pages(server, { signal: AbortSignal.timeout(1) })

  // @ts-expect-error a list of sites has no period
  await sites(server, { range: '7d' })
  // @ts-expect-error one site has no pages of sites
  await overview(server, { cursor: 'x' })

  const { data, ...more } = await timeseries(server)
  // @ts-expect-error a day has no sessions
  data[0]?.sessions
  // @ts-expect-error only lists with a limit have a number of rows
  more.totalRows
  // @ts-expect-error only overview compares
  more.previousPeriod
  // @ts-expect-error only lists with a limit have it in meta
  more.meta.limit
}

export async function questions() {
  const { data, totalRows, meta } = await breakdown(server, { by: 'referrer', filter: ['page:is:/a', 'os:is:Linux'] })
  isTrue<Same<(typeof data)[0]['visitors'], number | undefined>>()
  isTrue<Same<typeof totalRows, number | undefined>>()
  isTrue<Same<typeof meta.next_cursor, string | null>>()
  await totals(server, { filter: 'page:is:/a', compare: 'previous' })
  // @ts-expect-error a list needs a dimension
  await breakdown(server, { filter: 'page:is:/a' })
  // @ts-expect-error there is no such interval
  await totals(server, { interval: 'hour' })
}

export function handled(error: unknown): number | undefined {
  if (!(error instanceof FootfallError)) throw error
  isTrue<Same<typeof error.code, ErrorCode | QuestionErrorCode | 'unexpected_response'>>()
  isTrue<Same<typeof error.status, number>>()
  isTrue<Same<typeof error.requestId, string | undefined>>()
  // @ts-expect-error there is no such code
  if (error.code === 'teapot') return 1
  return error.code === 'rate_limit_exceeded' ? error.retryAfter : undefined
}

/** A switch over all codes needs no default. */
export function statusOf(code: ErrorCode): number {
  switch (code) {
    case 'unauthorized':
    case 'invalid_key':
    case 'key_disabled':
    case 'key_expired':
      return 401
    case 'plan_required':
    case 'forbidden':
      return 403
    case 'site_required':
    case 'invalid_parameter':
    case 'invalid_date':
    case 'unsupported_filter':
      return 400
    case 'not_found':
      return 404
    case 'method_not_allowed':
      return 405
    case 'rate_limit_exceeded':
      return 429
    case 'internal_error':
      return 500
  }
}
