// Reads three kinds of access logs: lines of nginx and Apache (the common or the combined format, which may begin with a host), Caddy's JSON,
// and CloudFront's standard log. docs/migrate/access-log.md says which requests are pageviews.
import { type Line, LineFault, readLines } from '../lines.ts'
import { attempt, type FileRecord } from '../records.ts'
import type { Format, LeftOut, Reason } from './format.ts'
import { fieldsOf } from './names.ts'

export const accessLog: Format = {
  name: 'access-log',
  isKnownBy(head) {
    const first = head.split('\n', 1)[0] as string
    return inText.test(first) || /^#(Version|Fields):/.test(first) || /^\{.*"request":\{/.test(first)
  },
  read,
  leavesOutBrokenLines: true,
}

interface Request {
  time: string
  method: string
  /** Undefined: the log has none. */
  host: string | undefined
  /** Path and query. */
  target: string
  status: number
  ip: string
  referrer: string
  /** Undefined: the log has none. Empty: the client sent none. */
  userAgent: string | undefined
}

async function* read(content: AsyncIterable<Buffer>, domain: string): AsyncGenerator<FileRecord | LeftOut | LineFault> {
  let columns: readonly string[] | undefined
  for await (const line of readLines(content)) {
    if (line instanceof LineFault) yield line
    else if (line.text.startsWith('#')) columns = columnsOf(line) ?? columns
    else if (line.text !== '') yield attempt(line.number, () => recordOf(line.number, requestIn(line, columns), domain))
  }
}

const columnsOf = ({ text }: Line): string[] | undefined =>
  text.startsWith('#Fields:') ? text.slice('#Fields:'.length).trim().split(/\s+/) : undefined

function requestIn({ text }: Line, columns: readonly string[] | undefined): Request {
  if (columns) return inColumns(text, columns)
  return text.startsWith('{') ? inJson(text) : inLine(text)
}

/** Of Apache's `vhost_combined`, the host is in front. A quote within a text has a backslash. */
const inText =
  /^(?:([\w.-]+)(?::\d+)? )?([\da-fA-F.:]+) \S+ .*?\[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\] "((?:[^"\\]|\\.)*)" (\d{3}) \S+(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function inLine(text: string): Request {
  const match = inText.exec(text)
  if (!match) throw new Error('is in none of the formats of access logs')
  const [, host, ip = '', day, month = '', year, clock, offset, request = '', status, referrer, userAgent] = match
  const [method = '', target = ''] = request.split(' ')
  return {
    time: `${year}-${String(months.indexOf(month) + 1).padStart(2, '0')}-${day}T${clock}${offset}`,
    method,
    host,
    target,
    status: Number(status),
    ip,
    referrer: written(referrer),
    userAgent: userAgent === undefined ? undefined : written(userAgent),
  }
}

/** A dash stands for nothing. nginx and Apache escape bytes. */
const written = (text = ''): string =>
  text === '-'
    ? ''
    : text.replace(/\\x([\da-fA-F]{2})|\\(.)/g, (_, hex, one) =>
        hex ? String.fromCharCode(Number.parseInt(hex, 16)) : one,
      )

interface CaddyLine {
  ts: number | string
  status: number
  request: {
    remote_ip?: string
    client_ip?: string
    method: string
    host: string
    uri: string
    headers?: Readonly<Record<string, readonly string[]>>
  }
}

function inJson(text: string): Request {
  const { ts, status, request } = JSON.parse(text) as CaddyLine
  if (typeof request?.uri !== 'string') throw new Error('is no request that Caddy has logged')
  return {
    time: typeof ts === 'number' ? new Date(Math.round(ts * 1_000)).toISOString() : ts,
    method: request.method,
    host: request.host,
    target: request.uri,
    status,
    ip: request.client_ip || request.remote_ip || '',
    referrer: request.headers?.Referer?.[0] ?? '',
    userAgent: request.headers?.['User-Agent']?.[0] ?? '',
  }
}

/** CloudFront percent-encodes what a client sent, some of it twice. */
function inColumns(text: string, columns: readonly string[]): Request {
  const cells = text.split('\t')
  if (cells.length !== columns.length) throw new Error(`has ${cells.length} cells, but #Fields names ${columns.length}`)
  const cell = (name: string): string => {
    const value = cells[columns.indexOf(name)] ?? '-'
    return value === '-' ? '' : value
  }
  const query = cell('cs-uri-query')
  return {
    time: `${cell('date')}T${cell('time')}Z`,
    method: cell('cs-method'),
    host: cell('x-host-header') || cell('cs(Host)') || undefined,
    target: `${cell('cs-uri-stem')}${query && `?${query}`}`,
    status: Number(cell('sc-status')),
    ip: cell('c-ip'),
    referrer: decoded(cell('cs(Referer)')),
    userAgent: columns.includes('cs(User-Agent)') ? decoded(decoded(cell('cs(User-Agent)'))) : undefined,
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What ends in anything but these is a file. */
const pageEndings = /\.(html?|xhtml|php\d?|aspx?|jsp|cgi|cfm)$/i
const otherThanPages =
  /(^|\/)(feed|rss|atom)(\/|$)|^\/(api|graphql|wp-json|wp-admin|wp-cron\.php|xmlrpc\.php|\.well-known|cdn-cgi|_next|_nuxt)(\/|$)/i

function reasonToLeaveOut({ method, status, target, userAgent }: Request): Reason | undefined {
  if (method !== 'GET') return 'requests that are not GET'
  if ((status < 200 || status > 299) && status !== 304) return 'answers that are neither 2xx nor 304'
  const path = target.split('?', 1)[0] as string
  if (otherThanPages.test(path)) return 'feeds and calls of an API'
  if (/\.\w{1,8}$/.test(path) && !pageEndings.test(path)) return 'files that are no pages'
  // As in live traffic, a client without a user agent counts as a bot.
  return userAgent === '' ? 'bots' : undefined
}

function recordOf(line: number, request: Request, domain: string): FileRecord | LeftOut {
  const reason = reasonToLeaveOut(request)
  if (reason) return { line, reason }
  const { time, host, target, ip, referrer, userAgent } = request
  const path = target.startsWith('/') ? target : `/${target}`
  return {
    line,
    fields: fieldsOf({ time, url: `https://${host ?? domain}${path}`, ip, referrer, user_agent: userAgent }),
  }
}
