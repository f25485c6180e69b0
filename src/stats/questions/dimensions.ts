// What a question can be filtered and grouped by. Parameters, statements, OpenAPI, reference and docs follow from this table (D-233): a new
// dimension of a session or a visitor is one entry here.
import { type Sql, sql } from '../../stores/clickhouse-sql.ts'

export interface Dimension {
  /** As in the API; `prop:plan` for the property `plan`. */
  name: string
  /** What has one value of it: a hit, a session, or a visitor of a day. */
  of: 'hit' | 'session' | 'visitor'
  /** One line for the reference. */
  meaning: string
  /** Of a session or a visitor: its column in `events`. Entry and exit pages have none. */
  column?: Sql
  /** The key of a property. */
  property?: string
  /** Whether its values are words of ours or of the owner, not text that visitors chose. */
  isOurs?: true
  /** Whether its column is younger than the first events of some sites. */
  isLater?: true
}

const described = {
  page: { of: 'hit', meaning: 'Path of the hit, without query and fragment.' },
  hostname: { of: 'hit', meaning: 'Host of the hit.' },
  event: { of: 'hit', meaning: 'Name of a custom event.' },
  goal: { of: 'hit', meaning: 'A goal of the site that the hit reaches.', isOurs: true },
  entry_page: { of: 'session', meaning: 'Path of the first pageview of the session.' },
  exit_page: { of: 'session', meaning: 'Path of the last pageview of the session; of a running session, so far.' },
  referrer: { of: 'session', meaning: 'Host that the session came from.', column: sql`referrer` },
  channel: { of: 'session', meaning: 'Channel that the session came through.', column: sql`channel`, isOurs: true },
  utm_source: { of: 'session', meaning: 'UTM source of the session.', column: sql`utm_source` },
  utm_medium: { of: 'session', meaning: 'UTM medium of the session.', column: sql`utm_medium`, isLater: true },
  utm_campaign: { of: 'session', meaning: 'UTM campaign of the session.', column: sql`utm_campaign`, isLater: true },
  utm_content: { of: 'session', meaning: 'UTM content of the session.', column: sql`utm_content`, isLater: true },
  utm_term: { of: 'session', meaning: 'UTM term of the session.', column: sql`utm_term`, isLater: true },
  country: {
    of: 'visitor',
    meaning: 'Two-letter code of the country; ZZ means unknown.',
    column: sql`country`,
    isOurs: true,
  },
  device: {
    of: 'visitor',
    meaning: 'Type of device: `desktop`, `mobile`, `tablet` or `unknown`.',
    column: sql`lower(device)`,
    isOurs: true,
  },
  browser: { of: 'visitor', meaning: 'Browser, without version.', column: sql`browser`, isOurs: true, isLater: true },
  os: { of: 'visitor', meaning: 'Operating system, without version.', column: sql`os`, isOurs: true, isLater: true },
} as const satisfies Record<string, Omit<Dimension, 'name'>>

export const dimensions: readonly Dimension[] = Object.entries(described).map(([name, rest]) => ({ name, ...rest }))

const byName = new Map(dimensions.map((dimension) => [dimension.name, dimension]))

/** Keys of properties as the collector records them. */
const propertyName = /^prop:([A-Za-z0-9_.-]{1,60})$/

export function dimensionOf(name: string): Dimension | undefined {
  const [, property] = propertyName.exec(name) ?? []
  return property === undefined
    ? byName.get(name)
    : { name, of: 'hit', meaning: 'Value of the property in the hit.', property, isLater: true }
}

/** For messages: every name, with the pattern of properties. */
export const dimensionNames = [...byName.keys(), 'prop:<key>'].join(', ')

/** Filters on these ask what happened in a session. All others ask which hits or sessions count. */
export const isAction = ({ name, property }: Dimension): boolean =>
  name === 'event' || name === 'goal' || property !== undefined
