// Generates the functions of packages/client and their types from the OpenAPI descriptions, one function per endpoint.

interface Description {
  servers: [{ url: string }]
  paths: Record<string, { get: Operation }>
  components: {
    parameters: Record<string, Parameter>
    schemas: { Error: Schema }
  }
}

interface Operation {
  operationId: string
  summary: string
  /** Empty if the endpoint needs no key. */
  security?: unknown[]
  parameters?: { $ref: string }[]
  responses: { 200: { headers?: object; content: Record<string, { schema: Schema }> } }
}

interface Parameter {
  name: string
  description: string
  required?: boolean
  schema: Schema
}

interface Schema {
  type?: string
  description?: string
  enum?: readonly (string | number)[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: boolean
}

/** The field of a result that a header becomes (packages/client/request.js). */
const fieldsOfHeaders: Record<string, string> = {
  'Stats-Period': 'period',
  'Stats-Previous-Period': 'previousPeriod',
  'Stats-Total-Rows': 'totalRows',
  'Stats-Warning': 'warnings',
  'X-RateLimit-Limit': 'rateLimit',
  'X-Request-Id': 'requestId',
}

const sourceOf = { index: 'docs/openapi.json', v2: 'docs/openapi-v2.json' }

/** `index` has the functions of v1, `v2` those of v2. */
export function clientFiles(api: object, file: keyof typeof sourceOf): Record<string, string> {
  const generated = `// Generated from ${sourceOf[file]} by \`npm run docs\`.\n`
  const { servers, paths, components } = JSON.parse(JSON.stringify(api)) as Description
  const { shared = [], own = [] } = Object.groupBy(Object.entries(components.parameters), ([key, { name }]) =>
    key === name ? 'shared' : 'own',
  )
  const endpoints = Object.entries(paths).map(([path, { get }]): Endpoint => {
    const keys = (get.parameters ?? []).map(({ $ref }) => $ref.split('/').at(-1))
    const among = (some: [key: string, parameter: Parameter][]) =>
      some.flatMap(([key, parameter]) => (keys.includes(key) ? parameter : []))
    return { ...get, path: servers[0].url + path, shared: among(shared), own: among(own) }
  })
  return {
    [`packages/client/${file}.js`]: [
      `${generated}import { ${file === 'v2' ? 'get, watch' : 'get'} } from './request.js'`,
      "export { FootfallError } from './request.js'",
      ...endpoints.map(functionOf),
    ]
      .join('\n\n')
      .concat('\n'),
    [`packages/client/${file}.d.ts`]: [
      `${generated}import type { FromHeaders, Options, Server } from './request.js'`,
      "export { FootfallError, type Options, type Period, type RateLimit, type Server } from './request.js'",
      `/** What the API may answer instead of numbers. */\nexport type ErrorCode = ${codesOf(components.schemas.Error)}`,
      `/** A parameter that is undefined or null is left out. */\ninterface SharedParameters ${parametersBlock(shared.map(([, parameter]) => parameter))}`,
      rangeParameters,
      ...endpoints.map(typesOf),
    ]
      .join('\n\n')
      .concat('\n'),
  }
}

interface Endpoint extends Operation {
  path: string
  /** Parameters that mean the same on every endpoint. */
  shared: Parameter[]
  /** Parameters that mean something else here. */
  own: Parameter[]
}

const functionOf = (endpoint: Endpoint): string => {
  const { operationId, path, shared, own } = endpoint
  const call = isStream(endpoint) ? 'watch' : 'get'
  return shared.length + own.length === 0
    ? `export const ${operationId} = (server, options) => ${call}(server, '${path}', {}, options)`
    : `export const ${operationId} = (server, parameters, options) => ${call}(server, '${path}', parameters, options)`
}

const isStream = ({ responses }: Operation): boolean => 'text/event-stream' in responses[200].content

const schemaOf = ({ responses }: Operation): Schema => {
  const [content] = Object.values(responses[200].content)
  return content?.schema ?? {}
}

function typesOf(endpoint: Endpoint): string {
  const { operationId, path, summary, security, responses } = endpoint
  const name = operationId.replace(/^./, (letter) => letter.toUpperCase())
  const { headers = {} } = responses[200]
  const { data, meta } = schemaOf(endpoint).properties as { data: Schema; meta: Schema }
  const fields = Object.keys(headers).flatMap((header) => fieldsOfHeaders[header] ?? [])
  const row = data.items?.properties ? `export interface ${name}Row ${typeOf(data.items)}` : undefined
  const parameters = parametersType(endpoint)
  const server = security?.length === 0 ? "Pick<Server, 'url' | 'waitSeconds'>" : 'Server'
  if (isStream(endpoint))
    return `export interface ${name}Message {
  data: ${typeOf(data, '  ')}
  meta: ${typeOf(meta, '  ')}
}

export type ${name}Parameters = ${parameters}

/** ${summary}: \`GET ${path}\`. It ends when the server ends the stream, and when the loop that reads it does. */
export declare function ${operationId}(
  server: Server,
  parameters?: ${name}Parameters,
  options?: Options,
): AsyncGenerator<${name}Message, void>`
  return [
    row,
    `export interface ${name}Result extends Pick<FromHeaders, ${union(fields)}> {
  data: ${row ? `${name}Row[]` : typeOf(data, '  ')}
  meta: ${typeOf(meta, '  ')}
}`,
    parameters && `export type ${name}Parameters = ${parameters}`,
    `/** ${summary}: \`GET ${path}\` */
export declare function ${operationId}(
  server: ${server},${parameters && `\n  parameters${needsOne(endpoint) ? '' : '?'}: ${name}Parameters,`}
  options?: Options,
): Promise<${name}Result>`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

const union = (words: readonly (string | number)[]): string => words.map((word) => `'${word}'`).join(' | ')

const codesOf = ({ properties }: Schema): string => union(properties?.error?.properties?.code?.enum ?? [])

/** The description cannot say that a custom range needs its dates. */
const rangeNames = ['range', 'start', 'end']
const rangeParameters = `/** A custom range needs both of its dates. */
type RangeParameters =
  | (Pick<SharedParameters, 'start' | 'end'> & { range?: Exclude<SharedParameters['range'], 'custom'> })
  | { range: 'custom'; start: string; end: string }`

function parametersType({ shared, own }: Endpoint): string {
  const names = shared.map(({ name }) => name)
  const others = names.filter((name) => !rangeNames.includes(name))
  return [
    ...(others.length > 0 ? [`Pick<SharedParameters, ${union(others)}>`] : []),
    ...(others.length < names.length ? ['RangeParameters'] : []),
    ...(own.length > 0 ? [parametersBlock(own)] : []),
  ].join(' & ')
}

const parametersBlock = (parameters: readonly Parameter[]): string =>
  `{\n${parameters
    .map(({ name, description, schema, required }) =>
      required
        ? `  ${note(description)}  ${name}: ${typeOf(schema)}\n`
        : `  ${note(description)}  ${name}?: ${parameterType(schema)} | null | undefined\n`,
    )
    .join('')}}`

const needsOne = ({ shared, own }: Endpoint): boolean => [...shared, ...own].some(({ required }) => required)

/** A parameter that may be repeated takes one value or a list. */
const parameterType = (schema: Schema): string =>
  schema.type === 'array' ? `string | readonly ${typeOf(schema)}` : typeOf(schema)

const note = (text: string | undefined): string => (text ? `/** ${text} */\n` : '')

/** `indent` is that of the line on which the type begins. */
function typeOf(schema: Schema, indent = ''): string {
  const { type, enum: words, anyOf, items, properties = {}, required = [], additionalProperties } = schema
  if (words) return union(words)
  if (anyOf) return anyOf.map((one) => typeOf(one, indent)).join(' | ')
  if (type === 'array') return listOf(typeOf(items as Schema, indent))
  if (type === 'null') return 'null'
  if (type === 'integer') return 'number'
  if (type !== 'object') return type as string
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const text = note(schema.description)
    return `${text && inner + text}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}\n`
  })
  const others = additionalProperties ? `${inner}[other: string]: unknown\n` : ''
  return `{\n${fields.join('')}${others}${indent}}`
}

const listOf = (type: string): string => (type.includes(' ') ? `(${type})[]` : `${type}[]`)
