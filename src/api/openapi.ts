// Builds the OpenAPI 3.1 description from the tables that the API itself uses (reports, schemas, parameters, errors, plans), so the
// description always matches the code.
import Type from 'typebox'
import { plans } from '../accounts/plans.ts'
import { type ErrorCode, errors } from '../errors.ts'
import { type Endpoint, endpoints, tags } from './endpoints.ts'
import { type Examples, type ParameterDoc, parameterDocs, responseHeaders } from './openapi-text.ts'
import { questionEndpoints, questionTags } from './question-endpoints.ts'
import { questionHeaders, questionParameterDocs } from './question-text.ts'

/** What one version of the API consists of. */
interface Version {
  /** `/api/v1` */
  url: string
  info: { title: string; version: string; summary: string; description: string }
  tags: Readonly<Record<string, string>>
  endpoints: readonly Endpoint[]
  parameters: readonly ParameterDoc[]
  headers: Readonly<Record<string, { description: string; schema: object; example?: string }>>
  /** The errors that an endpoint can return, in the order in which they are checked (decision D-38). */
  refusals: readonly ErrorCode[]
}

const ofTheGate: readonly ErrorCode[] = [
  'unauthorized',
  'invalid_key',
  'key_disabled',
  'key_expired',
  'plan_required',
  'rate_limit_exceeded',
  'site_required',
  'forbidden',
]

const ofAnyPath: readonly ErrorCode[] = ['not_found', 'method_not_allowed', 'internal_error']

const counted = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

const ofEveryVersion = [
  'Countries that the site owner has excluded are left out of every response.',
  'A visitor is counted once per day. So `visitors` of a range is the sum of the visitors of its days: the numbers of timeseries add up to those of the whole range.',
  `Requests per hour for each key: ${Object.entries(plans)
    .flatMap(([name, plan]) => (plan ? [`${name} ${plan.requestsPerHour}`] : []))
    .join(', ')}.`,
  'Lists are also there as CSV: send `Accept: text/csv`. The schemas here describe the JSON, so that generated clients return one type.',
]

/** The nine reports, and lists of sites and countries. */
export const describeApi = (examples: Examples = {}) =>
  describe(
    {
      url: '/api/v1',
      info: {
        title: 'Footfall statistics API',
        version: '1.0.0',
        summary: 'Visitors, pageviews, sessions, pages, referrers and more of a site, as JSON.',
        description: [
          'Every request carries `Authorization: Bearer <API_KEY>`, except for `/countries`; keep keys out of client-side code.',
          ...ofEveryVersion,
          'This version only gains fields. `/api/v2` answers questions that the nine reports cannot: any list filtered by any other.',
        ].join('\n\n'),
      },
      tags,
      endpoints,
      parameters: parameterDocs,
      headers: responseHeaders,
      refusals: [...ofTheGate, 'unsupported_filter', 'invalid_parameter', 'invalid_date', ...ofAnyPath],
    },
    examples,
  )

/** Any question about a site. */
export const describeQuestions = (examples: Examples = {}) =>
  describe(
    {
      url: '/api/v2',
      info: {
        title: 'Footfall questions API',
        version: '2.0.0',
        summary: 'Any number of a site, filtered and listed by anything that is recorded, as JSON.',
        description: [
          'Every request carries `Authorization: Bearer <API_KEY>`; keep keys out of client-side code. Keys, rate limits and headers are those of `/api/v1`.',
          ...ofEveryVersion,
        ].join('\n\n'),
      },
      tags: questionTags,
      endpoints: questionEndpoints,
      parameters: questionParameterDocs,
      headers: { ...responseHeaders, ...questionHeaders },
      refusals: [
        ...ofTheGate,
        'invalid_parameter',
        'invalid_filter',
        'invalid_date',
        'range_not_kept',
        'query_too_expensive',
        'too_many_streams',
        ...ofAnyPath,
      ],
    },
    examples,
  )

function describe(version: Version, examples: Examples) {
  const statuses = statusesOf(version)
  return {
    openapi: '3.1.0',
    info: { ...version.info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: version.url }],
    security: [{ key: [] }],
    tags: Object.entries(version.tags).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(
      version.endpoints.map((endpoint) => [
        endpoint.path,
        { get: operation(endpoint, examples[endpoint.id], statuses) },
      ]),
    ),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A site key (`ff_s_…`) or an account key (`ff_a_…`).' },
      },
      parameters: Object.fromEntries(
        version.parameters.map(({ key, ...parameter }) => [key ?? parameter.name, { in: 'query', ...parameter }]),
      ),
      headers: version.headers,
      responses: Object.fromEntries(statuses.map((status) => [status, refusal(status, version.refusals)])),
      schemas: { Error: errorSchema(version.refusals) },
    },
  }
}

const statusesOf = ({ refusals }: Version): number[] => [...new Set(refusals.map((code) => errors[code].status))].sort()

function operation(endpoint: Endpoint, example: unknown, statuses: readonly number[]) {
  const { id, tag, summary, details, data, meta, parameters, headers, isOpen, isStream } = endpoint
  const refs = parameters.map((key) => ({ $ref: `#/components/parameters/${key}` }))
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(details && { description: details }),
    ...(isOpen && { security: [] }),
    ...(refs.length > 0 && { parameters: refs }),
    responses: {
      200: {
        description: isStream
          ? 'Messages; the data of each is the JSON of this schema.'
          : 'The data, and what it is about.',
        headers: headerRefs(isOpen ? [...ofAny, 'Vary', 'Stats-Warning'] : isStream ? streamed : answered(headers)),
        content: {
          [isStream ? 'text/event-stream' : 'application/json']: {
            // The response body (docs/contract.md 2.1 and 2.2).
            schema: Type.Object({ data, meta: Type.Object(meta) }),
            examples: { demo: { summary: endpoint.example, value: example } },
          },
        },
      },
      ...(!isOpen &&
        !isStream && {
          304: {
            description: 'The response has not changed: its ETag is in If-None-Match.',
            headers: headerRefs(answered(headers)),
          },
        }),
      ...(isOpen ? { 400: unreadable, ...refsOf([404, 405]) } : refsOf(statuses)),
    },
  }
}

const refsOf = (statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]))

const ofAny = ['X-Request-Id', 'Cache-Control']

const streamed = [...counted, ...ofAny, 'Vary', 'Stats-Warning']

/** A 304 has the headers of its 200. */
const answered = (own: readonly string[]) => [...counted, ...ofAny, 'Vary', 'ETag', ...own, 'Stats-Warning']

function refusal(status: number, refusals: readonly ErrorCode[]) {
  const codes = refusals.filter((code) => errors[code].status === status)
  const isCounted = ![401, 404, 405].includes(status)
  return {
    description: codes.join(', '),
    headers: headerRefs([
      ...(isCounted ? counted : []),
      ...ofAny,
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(status === 405 ? ['Allow'] : []),
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

/** The only refusal of an endpoint without a key: a request that cannot be read (decision D-58). */
const unreadable = {
  description: 'invalid_parameter, if the request itself cannot be read',
  headers: headerRefs(ofAny),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const errorSchema = (codes: readonly ErrorCode[]) => ({
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: codes },
        message: { type: 'string', description: 'For people; it may change. Decide by the code.' },
      },
    },
  },
})
