// The inputs of tools: the parameters of version 2 of the API under the same names, plus calendar ranges and sites by domain.
import Type, { type Static, type TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { calendarDays, type RangeWord, rangeWords } from '../calendar/calendar-ranges.ts'
import { ApiError } from '../errors.ts'
import { dimensionNames, dimensionOf } from '../stats/questions/dimensions.ts'
import { filterText, maxFilters, maxValues, operators } from '../stats/questions/filters.ts'
import { metricNames } from '../stats/questions/metrics.ts'
import type { Fields, SourceSite } from '../stats/source.ts'
import type { Call } from './tool.ts'

export const oneOf = <const Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>(Type.String({ enum: [...words], description }))

const date = (description: string) => Type.Optional(Type.String({ maxLength: 10, description }))

/** The fields of a query: site, range and filters. */
export const query = {
  site: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Domain or site_id of the site, as the tool sites lists them. May be left out if there is only one.',
    }),
  ),
  range: Type.Optional(
    oneOf(
      rangeWords,
      "Days in the site's time zone. Weeks begin on Monday; last_week is the whole week before this one. 7d, 30d and 90d are that many days and 12m is twelve months, including today; 24h are the last 24 hours. custom needs start and end. The default is 30d.",
    ),
  ),
  start: date('First day of a custom range, such as 2026-01-31.'),
  end: date('Last day of a custom range, inclusive.'),
  filters: Type.Optional(
    Type.Array(
      Type.Object(
        {
          dimension: Type.String({ maxLength: 70, description: `One of ${dimensionNames}.` }),
          operator: oneOf(operators, 'How the values are compared. Upper and lower case differ.'),
          values: Type.Array(Type.String({ maxLength: 2_000 }), {
            ...{ minItems: 1, maxItems: maxValues },
            description:
              'Alternatives. Countries are two letters of ISO 3166-1, such as DE; devices are desktop, mobile or tablet. An empty text means that it has none.',
          }),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: maxFilters,
        description:
          'Only traffic that satisfies all of them. Filters on the page keep its hits; filters on what happened, such as event, keep whole visits.',
      },
    ),
  ),
}

/** What to count. */
export const counted = {
  metrics: Type.Optional(
    Type.Array(Type.String({ maxLength: 40 }), {
      ...{ minItems: 1, maxItems: 20 },
      description: `Some of ${metricNames}. Revenue is in minor units of the currency, such as cents; conversions need goal.`,
    }),
  ),
  goal: Type.Optional(
    Type.String({ maxLength: 100, description: 'Name of the goal that conversions and revenue are about.' }),
  ),
}

/** Refuses properties that the tool does not name. */
export const input = <const Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

export type Query = Static<ReturnType<typeof input<typeof query>>>
export type Counted = Static<ReturnType<typeof input<typeof counted>>>

/** Refuses an input that does not have its shape; the message says what to send instead. */
export function checkInput(schema: TSchema, value: unknown): void {
  const faults = Errors(schema, value).filter(({ keyword }) => keyword !== 'boolean')
  if (faults.length === 0) return
  const messages = faults.slice(0, 3).map((fault) => {
    const name = fault.instancePath.slice(1).replaceAll('/', '.') || 'The input'
    if (fault.keyword === 'enum') return `${name} must be one of ${fault.params.allowedValues.join(', ')}.`
    if (fault.keyword === 'required') return `${fault.params.requiredProperties.join(', ')} is missing.`
    if (fault.keyword !== 'additionalProperties') return `${name} ${fault.message}.`
    const path = fault.instancePath.split('/').slice(1)
    const known = Object.keys(
      path.reduce((at: Schema, name) => at.items ?? at.properties?.[name] ?? {}, schema as Schema).properties ?? {},
    )
    return fault.params.additionalProperties
      .slice(0, 5)
      .map((one) => unknown(one, [...path, one.slice(0, 32)].join('.'), known))
      .join(' ')
  })
  throw new ApiError('invalid_parameter', messages.join(' '))
}

interface Schema {
  /** Of a list. A path has the number of the item. */
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
}

function unknown(name: string, shown: string, known: readonly string[]): string {
  if (known.includes('filters') && dimensionOf(name))
    return `There is no ${shown} here; send it in filters: {"dimension": "${name}", "operator": "is", "values": ["…"]}.`
  const letters = lettersOf(name)
  const meant = known.find((one) => lettersOf(one) === letters || otherNames[one]?.includes(letters))
  if (meant !== undefined) return `There is no ${shown} here; it is called ${meant}.`
  return `There is no ${shown} here; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}.`
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '')

/** What assistants call the arguments, from the API and from other products. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  site: ['siteid', 'domain', 'website', 'url'],
  range: ['period', 'daterange', 'timerange', 'timeframe'],
  start: ['from', 'since', 'startdate', 'datefrom'],
  end: ['to', 'until', 'enddate', 'dateto'],
  filters: ['filter', 'where', 'segment'],
  goal: ['conversion', 'goalname'],
  metrics: ['metric', 'measures'],
  limit: ['max', 'count', 'rows'],
  interval: ['granularity', 'groupby'],
  by: ['dimension', 'property', 'report'],
  contains: ['search', 'query'],
  dimension: ['field', 'property'],
  operator: ['op'],
  values: ['value'],
}

const maxNamed = 20

/** The site that an input names. A foreign site is refused like one that does not exist. */
export async function findSite(reference: string | undefined, { source, signal }: Call): Promise<SourceSite> {
  const sites = await source.sites(signal)
  const [first, ...more] = sites
  if (!first) throw new ApiError('forbidden', 'There is no site yet. Somebody has to add one first.')
  if (reference === undefined) {
    if (more.length === 0) return first
    throw new ApiError('site_required', `Name the site: ${listed(sites)}.`)
  }
  const name = reference.toLowerCase()
  const site = sites.find(({ id, domain }) => id === name || domain === name)
  if (!site) throw new ApiError('forbidden', `No such site can be read. These can: ${listed(sites)}.`)
  return site
}

function listed(sites: readonly SourceSite[]): string {
  const names = sites.slice(0, maxNamed).map(({ domain }) => domain)
  const rest = sites.length - names.length
  return rest > 0 ? `${names.join(', ')} and ${rest} more, which the tool sites lists` : names.join(', ')
}

/** The parameters of the API, which checks them. */
export function fieldsOf(request: Query & Counted, { timeZone }: SourceSite, now: number): Fields {
  const { metrics, goal, filters = [] } = request
  const parameters = { ...rangeParameters(request, dayIn(timeZone, now)), metrics: metrics?.join(','), goal }
  return [
    ...Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    ),
    ...filters.map(({ dimension, operator, values }) => ['filter', filterText(dimension, operator, values)] as const),
  ]
}

function rangeParameters({ range, start, end }: Query, today: Temporal.PlainDate) {
  const hasDates = start !== undefined || end !== undefined
  const word: RangeWord = range ?? (hasDates ? 'custom' : '30d')
  if (hasDates && word !== 'custom')
    throw new ApiError('invalid_date', `start and end need the range custom, not ${word}.`)
  const days = calendarDays(word, today)
  return days ? { range: 'custom', start: days.firstDay, end: days.lastDay } : { range: word, start, end }
}

export const dayIn = (timeZone: string, now: number): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate()
