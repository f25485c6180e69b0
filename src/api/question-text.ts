// The texts of the reference for parameters and headers of /api/v2. They come from the tables that questions are read with.
import { rangeNames } from '../calendar/periods.ts'
import { dimensionNames } from '../stats/questions/dimensions.ts'
import { maxFilters, operators } from '../stats/questions/filters.ts'
import { metricNames } from '../stats/questions/metrics.ts'
import { limits, type QuestionParameter } from '../stats/questions/parameters.ts'
import { intervals } from '../stats/questions/question.ts'
import { type ParameterDoc, parameterDocs } from './openapi-text.ts'

const sharedNames: readonly string[] = ['range', 'start', 'end', 'site_id'] satisfies QuestionParameter[]

export const exampleEvent = '3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52'

const own: readonly (ParameterDoc & { name: QuestionParameter })[] = [
  {
    name: 'metrics',
    description: `The numbers to count, separated by commas: ${code(metricNames)}. The default of totals is the first five, elsewhere \`visitors,pageviews\`; of lists by \`event\`, \`goal\` or a property \`visitors,events\`.`,
    schema: { type: 'string' },
    example: 'visitors,conversions',
  },
  {
    name: 'filter',
    description: `\`dimension:operator:value\`; may be sent up to ${maxFilters} times, and all must hold. The dimension is one of ${code(dimensionNames)}, the operator one of ${code(operators.join(', '))}. Several values, separated by commas, are alternatives; \`\\,\` is a comma in a value and \`\\\\\` a backslash. An empty value means "has none".`,
    schema: { type: 'array', items: { type: 'string' }, maxItems: maxFilters },
    example: ['page:starts_with:/blog/'],
  },
  {
    name: 'goal',
    description: 'The goal that `conversions`, `conversion_rate` and `revenue` are about, by its name.',
    schema: { type: 'string' },
    example: 'Signup',
  },
  {
    name: 'compare',
    description:
      'The period to compare with: `previous`, `year` (the same days a year before), or two days such as `2026-01-01/2026-01-31`. Each record then has `previous` and `change`.',
    schema: { type: 'string' },
    example: 'previous',
  },
  {
    name: 'match',
    description: '`weekday`: what is compared begins with the same weekday.',
    schema: { type: 'string', enum: ['weekday'] },
  },
  {
    name: 'interval',
    description:
      'Length of an interval in the time zone of the site. `hour` takes at most 31 days; weeks begin on Monday. Visitors of hours do not add up to those of the day.',
    schema: { type: 'string', enum: intervals, default: 'day' },
  },
  {
    name: 'by',
    description: `What the list is of: one of ${code(dimensionNames)}.`,
    required: true,
    schema: { type: 'string' },
    example: 'referrer',
  },
  {
    name: 'order',
    description:
      'One of `metrics`, with `:asc` for the smallest first. The default is the first metric, largest first. Ties go by the other metrics, then by value.',
    schema: { type: 'string' },
    example: 'pageviews:asc',
  },
  {
    name: 'limit',
    description: `Maximum number of rows, from 1 to ${limits.json.toLocaleString('en')}; of CSV, to ${limits.csv.toLocaleString('en')}. If there are more, \`next_cursor\` leads to them.`,
    schema: { type: 'integer', minimum: 1, maximum: limits.csv, default: limits.default },
  },
  {
    name: 'cursor',
    description:
      'Where the page begins: `next_cursor` of the page before it, as it was received. All pages count the events that the first one did.',
    schema: { type: 'string' },
  },
]

const ofEvents: readonly ParameterDoc[] = [
  {
    name: 'id',
    in: 'path',
    description:
      'The id of the event, a UUID: the one that it was sent with, or that the collector returned with `?debug=1`.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: exampleEvent,
  },
  {
    name: 'day',
    description:
      'The day of the event, in the time zone of the site: `2026-01-31` or `20260131`. Without it the last 48 hours are looked at.',
    schema: { type: 'string' },
    example: '2026-01-31',
  },
]

export const questionParameterDocs: readonly ParameterDoc[] = [
  ...parameterDocs.filter(({ key, name }) => !key && sharedNames.includes(name)),
  ...own,
  ...ofEvents,
]

export const questionHeaders = {
  'Stats-Source': {
    description:
      'Which tables were read: `rollups`, `sessions` or `events`. It says what the question costs; the numbers do not depend on it.',
    schema: { type: 'string', enum: ['rollups', 'sessions', 'events'] },
    example: 'sessions',
  },
}

/** The example requests. */
export const exampleQuestions = {
  totals: { range: rangeNames[1], filter: 'referrer:is_not:' },
  timeseries: { range: rangeNames[1], filter: 'page:starts_with:/blog/', interval: 'day' },
  breakdown: { range: rangeNames[1], by: 'referrer', filter: 'page:is:/pricing', limit: 3 },
} as const

function code(names: string): string {
  return names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', ')
}
