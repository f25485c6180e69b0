// Reads the endpoints of the reference from the OpenAPI description: every GET operation below the base address.

export interface Api {
  info: { title: string; summary: string }
  servers: readonly { url: string }[]
  paths: Readonly<Record<string, { get: Operation }>>
  components: {
    parameters: Readonly<Record<string, Parameter>>
    headers: Readonly<Record<string, { description: string; example?: string }>>
  }
}

interface Operation {
  operationId: string
  tags: readonly string[]
  summary: string
  description?: string
  /** Empty: the operation needs no key. */
  security?: readonly unknown[]
  parameters?: readonly (Parameter | { $ref: string })[]
  responses: {
    200: {
      /** Of JSON, or of the messages of a stream. */
      content: Readonly<Record<string, Content>>
    }
  }
}

interface Content {
  schema: unknown
  examples?: { demo?: { summary?: string; value?: unknown } }
}

export interface Parameter {
  name: string
  /** `path` or `query`. */
  in?: string
  description: string
  schema: object
  /** A parameter that may be repeated has a list. */
  example?: string | number | readonly string[]
}

/** The keywords of JSON Schema that the reference shows. */
export interface Schema {
  type?: string
  description?: string
  format?: string
  default?: string | number
  enum?: readonly string[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  minimum?: number
  maximum?: number
  'x-unit'?: string
}

/** An operation with all data for its section of the reference. */
export interface Endpoint {
  id: string
  title: string
  /** With the base: `/api/v1/stats/pages`. */
  path: string
  operation: Operation
  parameters: readonly Parameter[]
  data: Schema
  meta: Schema
  needsKey: boolean
  isStream: boolean
  example: Content['examples']
}

export function endpointsOf({ servers, paths, components }: Api): Endpoint[] {
  const base = servers[0]?.url ?? ''
  return Object.entries(paths).map(([path, { get: operation }]) => {
    const [[type, content] = ['', { schema: {} }]] = Object.entries(operation.responses[200].content)
    const { data = {}, meta = {} } = (content.schema as Schema).properties ?? {}
    return {
      id: operation.operationId,
      title: titleOf(operation.operationId),
      path: base + path,
      operation,
      parameters: (operation.parameters ?? [])
        .map((one) =>
          '$ref' in one ? (components.parameters[one.$ref.split('/').at(-1) as string] as Parameter) : one,
        )
        // Every report accepts a limit, but only those that repeat it in `meta` have rows to limit (docs/contract.md 2.2).
        .filter(({ name }) => name !== 'limit' || meta.properties?.limit),
      data,
      meta,
      needsKey: operation.security?.length !== 0,
      isStream: type === 'text/event-stream',
      example: content.examples,
    }
  })
}

const titles: Readonly<Record<string, string>> = {
  geo: 'Countries',
  utm: 'UTM sources',
  countries: 'List of countries',
}

/** `sitesOverview` -> Sites overview */
function titleOf(id: string): string {
  const words = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll('_', ' ')
  return titles[id] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** `integer`, `string (date)`, `number or null`, `list of objects`. */
export function typeOf({ type, format, anyOf, items }: Schema): string {
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  if (items) return `list of ${typeOf(items)}s`
  return format ? `${type} (${format})` : (type ?? '')
}
