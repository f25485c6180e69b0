// The statistics of a server, by its address and an API key: plain calls of its API.
import { ApiError, type ErrorCode } from '../errors.ts'
import { queryFields } from '../stats/query-string.ts'
import { limits } from '../stats/questions/parameters.ts'
import { reports } from '../stats/reports.ts'
import type { Fields, SourceAnswer, SourceFilter } from '../stats/source.ts'
import { CommandError } from './command.ts'
import { printable } from './printable.ts'
import type { SiteOverview, SitesSource } from './sites-source.ts'

export interface RemoteKey {
  text: string
  /** The file or variable that it was read from, for errors: they never repeat the key. */
  origin: string
}

/** Longer than the five seconds that a server may take. */
const timeoutMs = 15_000

/** Every value is optional, because the address may belong to any server. */
interface Answer {
  headers: Headers
  body: { data?: unknown; meta?: { next_cursor?: string | null; filters?: SourceFilter[] } }
}

interface RemoteSite {
  site_id: string
  domain: string
  time_zone: string
}

/** `address` is the public address of the server, such as https://stats.example.com, with or without /api/v1. */
export function remoteSource(address: string, key: RemoteKey): SitesSource {
  const version1 = baseOf(address)
  const version2 = version1.replace(/v1$/, 'v2')

  async function get(path: string, fields: Fields, signal?: AbortSignal, base = version1): Promise<Answer> {
    const until = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
    const query = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString()
    const headers = { Authorization: `Bearer ${key.text}`, Accept: 'application/json' }
    try {
      // A redirect may lead to another host, which must not get the key.
      const init: RequestInit = { headers, signal: until, redirect: 'manual' }
      const response = await fetch(`${base}${path}${query && `?${query}`}`, init)
      const text = await response.text()
      if (response.ok) return { headers: response.headers, body: bodyOf(text) ?? notFootfall(base, response) }
      throw refusal(base, response, text, key)
    } catch (error) {
      if (error instanceof CommandError || error instanceof ApiError || signal?.aborted) throw error
      throw unreachable(base, error as Error)
    }
  }

  return {
    async sites(signal) {
      const { body } = await get('/sites', [], signal)
      return (body.data as RemoteSite[]).map(({ site_id, domain, time_zone }) => ({
        id: site_id,
        domain,
        timeZone: time_zone,
      }))
    },
    async ask(kind, siteId, fields, signal) {
      const rows: unknown[] = []
      const max = Number(fields.find(([name]) => name === 'limit')?.[1] ?? limits.default)
      for (let page: Fields = []; ; ) {
        // Longer lists are read in pages, which all count the same hits.
        const limit: Fields = kind === 'breakdown' ? [['limit', String(Math.min(max - rows.length, limits.json))]] : []
        const asked = [['site_id', siteId], ...fields.filter(([name]) => name !== 'limit'), ...limit, ...page] as const
        const { headers, body } = await get(`/stats/${kind}`, asked, signal, version2)
        const added = Array.isArray(body.data) ? body.data : []
        rows.push(...added)
        const cursor = body.meta?.next_cursor
        if (!cursor || isLast(added) || rows.length >= max)
          return {
            ...answerOf(headers, Array.isArray(body.data) ? rows : body.data),
            filters: body.meta?.filters ?? [],
          }
        page = [['cursor', cursor]]
      }
    },
    async read(report, siteId, parameters, signal) {
      const fields: [string, string][] = [['site_id', siteId], ...queryFields(parameters)]
      if (reports[report].limited) fields.push(['limit', String(parameters.limit)])
      const { headers, body } = await get(`/stats/${report}`, fields, signal)
      return answerOf(headers, body.data)
    },
    async overviews(parameters, signal) {
      const sites: SiteOverview[] = []
      const warnings = new Set<string>()
      for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
        const page: [string, string][] = cursor === '' ? [] : [['cursor', cursor]]
        const { headers, body } = await get('/sites/overview', [...queryFields(parameters), ...page], signal)
        const added = body.data as SiteOverview[]
        sites.push(...added)
        for (const warning of warningsOf(headers)) warnings.add(warning)
        cursor = isLast(added) ? null : body.meta?.next_cursor
      }
      return { sites, warnings: [...warnings] }
    },
  }
}

/** Whatever a server says: one that always names a next page would be asked forever. */
const isLast = (page: readonly unknown[]): boolean => page.length === 0

function answerOf(headers: Headers, data: unknown): SourceAnswer {
  const totalRows = headers.get('Stats-Total-Rows')
  return {
    data,
    period: headers.get('Stats-Period') ?? '',
    previousPeriod: headers.get('Stats-Previous-Period') ?? undefined,
    totalRows: totalRows === null ? undefined : Number(totalRows),
    warnings: warningsOf(headers),
  }
}

const warningsOf = (headers: Headers): string[] => headers.get('Stats-Warning')?.split('; ') ?? []

function baseOf(address: string): string {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(
      `${printable(address)} is not an address.`,
      'Write it with https://, such as --url https://stats.example.com.',
    )
  }
  return `${url.origin}${url.pathname.replace(/(\/api\/v1)?\/*$/, '')}/api/v1`
}

function bodyOf(text: string): Answer['body'] | undefined {
  try {
    const body = JSON.parse(text)
    return typeof body?.data === 'object' ? body : undefined
  } catch {
    return undefined
  }
}

function notFootfall(base: string, { status, headers }: Response): never {
  const contentType = printable(headers.get('content-type') ?? 'nothing')
  throw new CommandError(
    `${base} is not the API of Footfall: it answered ${status} with ${contentType}.`,
    'Check --url: the address at which you open the console, such as https://stats.example.com.',
  )
}

/** Refusals of the question itself: each caller shows them in its own way, as it shows those of this installation. */
const aboutQuestion: readonly string[] = [
  'invalid_parameter',
  'invalid_filter',
  'invalid_date',
  'range_not_kept',
  'query_too_expensive',
] satisfies ErrorCode[]

function refusal(base: string, response: Response, text: string, { origin }: RemoteKey): CommandError | ApiError {
  const location = response.headers.get('location')
  if (location !== null)
    return new CommandError(`${base} redirects to ${printable(location)}.`, 'Use the address to which it redirects.')
  const { code, message } = errorOf(text) ?? notFootfall(base, response)
  if (code === 'not_found') return new CommandError(`${base} does not have this call.`, older)
  if (aboutQuestion.includes(code)) return new ApiError(code as ErrorCode, printable(message))
  return new CommandError(printable(message), hints[code]?.(origin, response.headers) ?? 'See: footfall stats --help')
}

const older = 'Update the server: it is older than this command.'

function errorOf(text: string): { code: string; message: string } | undefined {
  try {
    const { code, message } = JSON.parse(text).error
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined
  } catch {
    return undefined
  }
}

const newKey = (origin: string): string =>
  `The key comes from ${origin}. For a new one, ask an owner of the site, or run on the server: footfall key create <site>`

/** Hints for refusals that the caller of the command can fix. */
const hints: Readonly<Record<string, (origin: string, headers: Headers) => string>> = {
  unauthorized: newKey,
  invalid_key: newKey,
  key_disabled: newKey,
  key_expired: newKey,
  plan_required: () => 'Ask the operator of the server for a plan with API access: footfall account plan <id> Starter',
  forbidden: (origin) => `The key comes from ${origin}. To see its sites: footfall stats --all-sites --url …`,
  rate_limit_exceeded: (_origin, headers) =>
    `The limit is per hour. Try again ${untilText(Number(headers.get('X-RateLimit-Reset')))}.`,
  internal_error: () => 'Try again in a moment. If it stays, look into the log of the server.',
}

function untilText(seconds: number): string {
  const minutes = Math.ceil((seconds - Date.now() / 1000) / 60)
  return minutes > 1 ? `in ${minutes} minutes` : 'in a minute'
}

function unreachable(base: string, error: Error): CommandError {
  const { message } = error.cause instanceof Error ? error.cause : error
  const why = error.name === 'TimeoutError' ? `no answer within ${timeoutMs / 1000} s` : message
  return new CommandError(
    `${new URL(base).host} cannot be reached (${printable(why)}).`,
    'Check --url, the network, and that the server runs.',
  )
}
