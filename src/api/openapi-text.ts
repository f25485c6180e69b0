// The words of the reference: parameters and headers. Checked against parameters.ts and the answers by tests.
import { rangeNames } from '../stats/period.ts'
import type { Report } from '../stats/report.ts'
import { devices } from '../traffic/device.ts'
import type { ParameterName } from './parameters.ts'

/** A real answer for each report, taken from the demo site. */
export type Examples = Record<string, unknown>

/** What the examples answer. */
export const example = { range: '7d', limit: 3 } as const

export const exampleQuery = ({ limited }: Report): string =>
  limited ? `range=${example.range}&limit=${example.limit}` : `range=${example.range}`

interface ParameterDoc {
  name: ParameterName
  description: string
  schema: object
  example?: string | number
}

export const parameterDocs: readonly ParameterDoc[] = [
  {
    name: 'range',
    description:
      'The time range, in days of the site’s time zone. `7d`, `30d` and `90d` end with today; `24h` ends now; `12m` is the last twelve months; `custom` needs `start` and `end`. `30d` unless sent.',
    schema: { type: 'string', enum: rangeNames, default: '30d' },
  },
  {
    name: 'start',
    description:
      'First day of a custom range, included: `2026-01-31` or `20260131`. Of a date-time the date counts as it is written; its time has no effect.',
    schema: { type: 'string' },
    example: '2026-01-01',
  },
  {
    name: 'end',
    description: 'Last day of a custom range, included, written like `start`; the range is cut at now.',
    schema: { type: 'string' },
    example: '2026-01-31',
  },
  {
    name: 'limit',
    description:
      'How many rows, from 1 to 100, on pages, referrers, devices, geo, events and utm; 10 unless sent. How many there are without it is in `Stats-Total-Rows`.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
  },
  {
    name: 'country',
    description: 'Only visitors from this country: two letters of ISO 3166-1, in any case; ZZ for unknown.',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
    example: 'DE',
  },
  {
    name: 'device',
    description: 'Only visitors with this type of device: `desktop`, `mobile` or `tablet`, in any case.',
    schema: {
      type: 'string',
      enum: devices.filter((label) => label !== 'Unknown').map((label) => label.toLowerCase()),
    },
  },
  {
    name: 'hostname',
    description:
      'Only hits on this host: its name alone, in any case, without scheme, port or path. An international name may be sent as it is written.',
    schema: { type: 'string', maxLength: 253 },
    example: 'example.com',
  },
  {
    name: 'utm_source',
    description: 'Only sessions that came by this UTM source, exactly as written.',
    schema: { type: 'string', maxLength: 255 },
    example: 'newsletter',
  },
  {
    name: 'site_id',
    description: 'The site. Required with an account key; with a site key it may only name that site.',
    schema: { type: 'string', pattern: '^site_[a-z2-7]{16}$' },
  },
]

const integer = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })
const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

export const responseHeaders = {
  'X-RateLimit-Limit': integer('Requests an hour that the plan allows.'),
  'X-RateLimit-Remaining': integer('Requests left in this window.'),
  'X-RateLimit-Reset': integer('Unix time, in seconds, at which the window ends; the same through the whole window.'),
  'Retry-After': integer('Seconds to wait before trying again; of a 429, until the window ends.'),
  'X-Request-Id': text('Names this request in our logs.', '3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52'),
  ETag: text('Changes when the numbers do; send it back as If-None-Match.', 'W/"k3Jx0Qm1yB6f2c9sQv1nZ8tLr4w"'),
  'Stats-Period': text(
    'What the range covered, as an ISO 8601 interval without its end.',
    '2026-11-09T00:00:00+01:00/2026-11-15T12:34:56.789+01:00',
  ),
  'Stats-Previous-Period': text(
    'What it was compared with.',
    '2026-11-02T00:00:00+01:00/2026-11-08T12:34:56.789+01:00',
  ),
  'Stats-Total-Rows': integer('How many rows there are without the limit; sent when the limit has cut the list.'),
  'Stats-Warning': text(
    'What was sent without effect, and what is special about these numbers; sentences separated by "; ".',
    'limit has no effect on this endpoint',
  ),
}
