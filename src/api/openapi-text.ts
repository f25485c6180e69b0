// The texts of the reference for parameters and headers. Tests compare them with parameters.ts and with real responses.
import { rangeNames } from '../calendar/periods.ts'
import { maxHostname } from '../hostnames.ts'
import { type ParameterName, siteListParameters, sitesParameters } from '../stats/parameters.ts'
import type { Report } from '../stats/report.ts'
import { reports } from '../stats/reports.ts'
import { devices } from '../traffic/device.ts'

/** A real response of each report, taken from the demo site. */
export type Examples = Record<string, unknown>

/** The parameters of the example requests. */
export const example = { range: '7d', limit: 3 } as const

export const exampleQuery = ({ limited }: Report): string =>
  limited ? `range=${example.range}&limit=${example.limit}` : `range=${example.range}`

/** The name of a parameter, or of its description where it means something else: `limit` of a list of sites. */
export type ParameterKey = ParameterName | 'limit_of_sites' | 'limit_of_list' | 'site_id_of_many'

export interface ParameterDoc {
  /** Where the name means something else on other endpoints. */
  key?: string
  /** A part of the path. All others are of the query. */
  in?: 'path'
  name: string
  description: string
  required?: true
  schema: object
  example?: string | number | readonly string[]
}

const limitedReports = (): string =>
  new Intl.ListFormat('en-GB').format(
    Object.entries<Report>(reports).flatMap(([name, { limited }]) => (limited ? [name] : [])),
  )

export const parameterDocs: readonly (ParameterDoc & { key?: ParameterKey; name: ParameterName })[] = [
  {
    name: 'range',
    description:
      'The time range, in days of the site’s time zone. `7d`, `30d` and `90d` end with today; `24h` ends now; `12m` is the last twelve months; `custom` needs `start` and `end`.',
    schema: { type: 'string', enum: rangeNames, default: '30d' },
  },
  {
    name: 'start',
    description:
      'First day of a custom range, inclusive: `2026-01-31` or `20260131`. A date-time is accepted too: its date counts as written, its time has no effect.',
    schema: { type: 'string' },
    example: '2026-01-01',
  },
  {
    name: 'end',
    description:
      'Last day of a custom range, inclusive, in the same format as `start`. A range never goes beyond the current time.',
    schema: { type: 'string' },
    example: '2026-01-31',
  },
  {
    name: 'limit',
    description: `Maximum number of rows, from 1 to 100, on ${limitedReports()}. If the limit cuts the list, \`Stats-Total-Rows\` gives the full number.`,
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
  },
  {
    name: 'country',
    description:
      'Only visitors from this country: a two-letter code of ISO 3166-1, in upper or lower case; ZZ means unknown.',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
    example: 'DE',
  },
  {
    name: 'device',
    description: 'Only visitors with this type of device: `desktop`, `mobile` or `tablet`, in upper or lower case.',
    schema: {
      type: 'string',
      enum: devices.filter((label) => label !== 'Unknown').map((label) => label.toLowerCase()),
    },
  },
  {
    name: 'hostname',
    description:
      'Only hits on this host: the name alone, in upper or lower case, without scheme, port or path. An international name needs no Punycode.',
    schema: { type: 'string', maxLength: maxHostname },
    example: 'example.com',
  },
  {
    name: 'utm_source',
    description: 'Only sessions with exactly this UTM source; upper and lower case differ.',
    schema: { type: 'string', maxLength: 255 },
    example: 'newsletter',
  },
  {
    name: 'site_id',
    description:
      'The site. Required with an account key. With a site key it may be left out; any other site is refused.',
    schema: { type: 'string', pattern: '^site_[a-z2-7]{16}$' },
  },
  {
    key: 'site_id_of_many',
    name: 'site_id',
    description:
      'Only this site. Without it, all sites of the account with an account key, and its site with a site key.',
    schema: { type: 'string', pattern: '^site_[a-z2-7]{16}$' },
  },
  {
    key: 'limit_of_sites',
    name: 'limit',
    description: 'Maximum number of sites, from 1 to 200. If there are more, `next_cursor` leads to them.',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: sitesParameters.limit.max,
      default: sitesParameters.limit.default,
    },
  },
  {
    key: 'limit_of_list',
    name: 'limit',
    description:
      'Maximum number of sites, from 1 to 200. If there are more, `next_cursor` leads to them. Without it, all sites are in one answer.',
    schema: { type: 'integer', minimum: 1, maximum: siteListParameters.limit.max },
  },
  {
    name: 'cursor',
    description: 'Where the page begins: `next_cursor` of the page before it, as it was received.',
    schema: { type: 'string' },
  },
]

const integer = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })
const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

export const responseHeaders = {
  'X-RateLimit-Limit': integer('Requests per hour that the plan allows.'),
  'X-RateLimit-Remaining': integer('Requests left in this window.'),
  'X-RateLimit-Reset': integer(
    'Unix time, in seconds, when the window ends; it stays the same during the whole window.',
  ),
  'Retry-After': integer(
    'Seconds to wait before trying again; after `rate_limit_exceeded`, the time until the window ends.',
  ),
  'X-Request-Id': text('The id of this request in our logs.', '3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52'),
  'WWW-Authenticate': text('How to send a key.', 'Bearer'),
  Allow: text('The methods of this path.', 'GET, HEAD, OPTIONS'),
  'Cache-Control': text(
    'Who may keep this response: of errors nobody, of numbers only the client.',
    'private, no-cache',
  ),
  Vary: text('The request headers that this response depends on.', 'Authorization, Accept-Encoding'),
  ETag: text('Changes when the numbers do; send it back as If-None-Match.', 'W/"k3Jx0Qm1yB6f2c9sQv1nZ8tLr4w"'),
  'Stats-Period': text(
    'The period that the range covered, as an ISO 8601 interval; the end itself is not included.',
    '2026-11-09T00:00:00+01:00/2026-11-15T12:34:56.789+01:00',
  ),
  'Stats-Previous-Period': text(
    'The period that it was compared with.',
    '2026-11-02T00:00:00+01:00/2026-11-08T12:34:56.789+01:00',
  ),
  'Stats-Total-Rows': integer('Number of rows without the limit; sent only when the limit cut the list.'),
  'Stats-Warning': text(
    'Parameters that had no effect, and remarks about these numbers; sentences separated by "; ".',
    'limit has no effect on this endpoint',
  ),
}
