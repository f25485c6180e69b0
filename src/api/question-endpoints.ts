// Every endpoint of /api/v2 for the reference and for generated clients. Their shapes follow from the tables of dimensions and metrics.
import Type, { type TProperties, type TSchema } from 'typebox'
import { liveShape } from '../stats/live.ts'
import { dimensions } from '../stats/questions/dimensions.ts'
import { type Metric, metrics } from '../stats/questions/metrics.ts'
import { parametersOf } from '../stats/questions/parameters.ts'
import { type QuestionKind, questionKinds } from '../stats/questions/question.ts'
import { unitOf } from '../stats/shapes.ts'
import { whereaboutsShape } from '../tracing/whereabouts.ts'
import { aboutSite, type Endpoint, generatedAt, limit, listedAt, nextCursor, range } from './endpoints.ts'
import { goalsShape } from './goal-routes.ts'
import { exampleQuestions } from './question-text.ts'

export const questionTags = {
  Questions: 'Any question about a site.',
  Events: 'What became of a single event.',
  Live: 'Who is there now.',
} as const

const numberOf = ({ meaning, unit, decimals }: Metric): TSchema =>
  Type.Optional(
    decimals
      ? Type.Number({ minimum: 0, description: meaning, ...unitOf(unit) })
      : Type.Integer({ minimum: 0, description: meaning, ...unitOf(unit) }),
  )

const numbers: TProperties = Object.fromEntries(metrics.map((metric) => [metric.name, numberOf(metric)]))

const changes: TProperties = Object.fromEntries(
  metrics.map(({ name }) => [
    name,
    Type.Optional(
      Type.Union([Type.Number(), Type.Null()], {
        description: 'Change in percent, with one decimal; null if the number was 0.',
        ...unitOf('percent'),
      }),
    ),
  ]),
)

const orNull = (fields: TProperties, description: string): TSchema =>
  Type.Optional(Type.Union([Type.Object(fields), Type.Null()], { description }))

/** Only the metrics that were asked for are there. The names of revenue end with a currency, so the schema allows other names. */
const record = (first: TProperties): TSchema =>
  Type.Object(
    {
      ...first,
      ...numbers,
      previous: orNull(
        numbers,
        'With `compare`: the same numbers of the compared period; null if it has no such interval.',
      ),
      change: orNull(changes, 'With `compare`: the change of each number in percent; null where it was 0.'),
    },
    { additionalProperties: true },
  )

const values: TProperties = Object.fromEntries(
  dimensions.map(({ name, meaning }) => [
    name,
    Type.Optional(Type.Union([Type.String(), Type.Null()], { description: `With \`by=${name}\`. ${meaning}` })),
  ]),
)

const intervalNames: TProperties = {
  date: Type.Optional(
    Type.String({ format: 'date', description: 'First day of the interval, in the time zone of the site.' }),
  ),
  time: Type.Optional(
    Type.String({ format: 'date-time', description: 'With `interval=hour`: when the hour begins, with its offset.' }),
  ),
}

const described: Record<QuestionKind, Pick<Endpoint, 'summary' | 'details' | 'data'>> = {
  totals: {
    summary: 'Numbers of the whole period',
    details: 'Without filters the five numbers of `/api/v1/stats/overview`.',
    data: record({}),
  },
  timeseries: {
    summary: 'Numbers of every hour, day, week or month of the period',
    details: 'Intervals without traffic are there, with zeros.',
    data: Type.Array(record(intervalNames)),
  },
  breakdown: {
    summary: 'A list by any dimension',
    details: 'Rows without a value, such as visits without a referrer, have `null`.',
    data: Type.Array(record(values)),
  },
}

const filters = Type.Array(
  Type.Object({ dimension: Type.String(), operator: Type.String(), values: Type.Array(Type.String()) }),
  { description: 'The filters as they were understood.' },
)

const endpointOf = (kind: QuestionKind): Endpoint => ({
  path: `/stats/${kind}`,
  id: kind,
  tag: 'Questions',
  ...described[kind],
  meta: {
    site_id: aboutSite,
    range,
    filters,
    ...(kind === 'breakdown' && { limit, next_cursor: nextCursor }),
    generated_at: generatedAt,
  },
  parameters: parametersOf(kind),
  headers: [
    'Stats-Period',
    'Stats-Previous-Period',
    'Stats-Source',
    ...(kind === 'breakdown' ? ['Stats-Total-Rows'] : []),
  ],
  example: `A demo site, with ${Object.entries(exampleQuestions[kind])
    .map(([name, value]) => `${name}=${value}`)
    .join('&')}`,
})

const goals: Endpoint = {
  path: '/goals',
  id: 'goals',
  tag: 'Questions',
  summary: 'The goals of the site, by name',
  details: 'Owners add them in the settings of the site, or with `footfall goal create`.',
  data: goalsShape,
  meta: { site_id: aboutSite, generated_at: listedAt },
  parameters: ['site_id'],
  headers: [],
  example: 'A demo site',
}

const event: Endpoint = {
  path: '/events/{id}',
  id: 'event',
  tag: 'Events',
  summary: 'Where an event is: counted, dropped, or on its way',
  details:
    'For an event of the last 48 hours, or of the day that you name. Events that a site dropped are known for 24 hours, the last thousand of it. An event that waits on the disk of a collector is found if that runs in the same process as the API, as in `footfall serve`.',
  data: whereaboutsShape,
  meta: { site_id: aboutSite, generated_at: generatedAt },
  parameters: ['id', 'site_id', 'day'],
  headers: [],
  example: 'An event that was counted',
}

const live: Endpoint = {
  path: '/live',
  id: 'live',
  tag: 'Live',
  summary: 'Who is on the site now and what they do, as server-sent events',
  details:
    'The answer is a stream that does not end. Each message has everything, and comes within two seconds of the hit that changes it; while nothing changes, none comes. Each visitor counts once, with the page, the country and the source of their last hit. An event named `unavailable` says that the statistics cannot be read at the moment. A stream counts as one request, a key has at most ten, and a stream ends when its key does.',
  data: liveShape,
  meta: { site_id: aboutSite, generated_at: generatedAt },
  parameters: ['site_id'],
  headers: [],
  example: 'A message, with the last three of its minutes',
  isStream: true,
}

export const questionEndpoints: readonly Endpoint[] = [...questionKinds.map(endpointOf), goals, event, live]
