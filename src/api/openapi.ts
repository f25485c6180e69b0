// OpenAPI 3.1, made from the tables the API itself runs on: reports, their schemas, parameters, errors, plans. Nothing is
// described here that those tables could get out of step with.
import { plans } from '../accounts/plans.ts'
import { type ErrorCode, errors } from '../errors.ts'
import type { Report } from '../stats/report.ts'
import { reports } from '../stats/reports.ts'
import { type Examples, exampleQuery, parameterDocs, responseHeaders } from './openapi-text.ts'
import { envelope } from './stats-routes.ts'

/** Which refusals an endpoint can answer with, in the order in which they are checked (decision D-38). */
const refusals: ErrorCode[] = [
  'unauthorized',
  'invalid_key',
  'key_disabled',
  'key_expired',
  'plan_required',
  'rate_limit_exceeded',
  'site_required',
  'forbidden',
  'unsupported_filter',
  'invalid_parameter',
  'invalid_date',
  'internal_error',
]

const refusedWith = [...new Set(refusals.map((code) => errors[code].status))].sort()

const counted = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

export function describeApi(examples: Examples = {}) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Footfall statistics API',
      version: '1.0.0',
      summary: 'Visitors, pageviews, sessions, pages, referrers and more of a site, as JSON.',
      description: [
        'Every request carries `Authorization: Bearer <API_KEY>`; keep keys out of client-side code.',
        'Countries that the site owner has excluded are left out of every answer.',
        'A visitor is counted once per day. So `visitors` of a range is the sum of the visitors of its days: the numbers of timeseries add up to those of overview.',
        `Requests an hour for each key: ${Object.entries(plans)
          .flatMap(([name, plan]) => (plan ? [`${name} ${plan.requestsPerHour}`] : []))
          .join(', ')}.`,
        'This version only gains fields; a breaking change would be `/api/v2`.',
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api/v1' }],
    security: [{ key: [] }],
    tags: [{ name: 'Statistics', description: 'Nine questions about a site.' }],
    paths: Object.fromEntries(
      Object.entries<Report>(reports).map(([name, report]) => [
        `/stats/${name}`,
        { get: operation(name, report, examples[name]) },
      ]),
    ),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A site key (`ff_s_…`) or an account key (`ff_a_…`).' },
      },
      parameters: Object.fromEntries(parameterDocs.map((parameter) => [parameter.name, { in: 'query', ...parameter }])),
      headers: responseHeaders,
      responses: Object.fromEntries(refusedWith.map((status) => [status, refusal(status)])),
      schemas: { Error: errorSchema },
    },
  }
}

function operation(name: string, report: Report, example: unknown) {
  return {
    operationId: name,
    tags: ['Statistics'],
    summary: report.summary,
    parameters: parameterDocs.map((parameter) => ({ $ref: `#/components/parameters/${parameter.name}` })),
    responses: {
      200: {
        description: 'The answer.',
        headers: headerRefs([
          ...counted,
          'X-Request-Id',
          'ETag',
          'Stats-Period',
          ...(name === 'overview' ? ['Stats-Previous-Period'] : []),
          ...(report.limited ? ['Stats-Total-Rows'] : []),
          'Stats-Warning',
        ]),
        content: {
          'application/json': {
            schema: envelope(report),
            examples: {
              demo: { summary: `A demo site, with ${exampleQuery(report)}`, value: example },
            },
          },
        },
      },
      304: {
        description: 'The answer is what If-None-Match names.',
        headers: headerRefs([...counted, 'X-Request-Id', 'ETag']),
      },
      ...Object.fromEntries(refusedWith.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  }
}

function refusal(status: number) {
  const codes = refusals.filter((code) => errors[code].status === status)
  const isCounted = status !== 401
  return {
    description: codes.join(', '),
    headers: headerRefs([
      ...(isCounted ? counted : []),
      'X-Request-Id',
      ...(status === 429 || status === 500 ? ['Retry-After'] : []),
    ]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: { error: { code, message: errors[code].message } } }]),
        ),
      },
    },
  }
}

const headerRefs = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(errors) },
        message: { type: 'string', description: 'For people; it may change. Decide by the code.' },
      },
    },
  },
}
