// GET /api/v2/goals: the goals of a site (docs/goals.md).
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { ApiError } from '../errors.ts'
import { maxParameters, parameterNames, refuseVariants, warningsOf } from '../stats/parameters.ts'
import { identityOf } from '../stats/reports.ts'
import type { Goal } from '../traffic/goals.ts'
import { type Gatekeepers, guardSite } from './access.ts'
import { sendContent } from './responses.ts'

/** The list has neither a period nor filters. */
const unused = parameterNames.filter((name) => name !== 'site_id')

export function goalRoutes(app: FastifyInstance, gatekeepers: Gatekeepers): void {
  const { now } = gatekeepers
  guardSite(app, gatekeepers)
  app.get('/goals', async (request, reply) => {
    const { queryString, site } = request
    refuseVariants(queryString, ['site_id'])
    if (queryString.size > maxParameters)
      throw new ApiError('invalid_parameter', `At most ${maxParameters} parameters may be sent.`)
    const data = JSON.stringify(site.goals.map(recordOf))
    return sendContent(request, reply, {
      identity: identityOf(`goals ${site.id} ${data}`),
      warnings: warningsOf(queryString, { range: { name: '30d' } }, unused),
      body: () => {
        const meta = { site_id: site.id, generated_at: new Date(now()).toISOString() }
        return `{"data":${data},"meta":${JSON.stringify(meta)}}`
      },
    })
  })
}

/** `kind` says which other fields there are. */
export const goalsShape = Type.Array(
  Type.Object({
    name: Type.String({ description: 'Name of the goal, as `goal` takes it.' }),
    kind: Type.String({ enum: ['event', 'path'], description: 'Whether an event or a page reaches it.' }),
    event: Type.Optional(Type.String({ description: 'Name of the event.' })),
    property: Type.Optional(
      Type.Object(
        { key: Type.String({ description: 'Its key.' }), value: Type.String({ description: 'Its value.' }) },
        { description: 'A property that the event must have.' },
      ),
    ),
    path: Type.Optional(Type.String({ description: 'A path, or a pattern of paths.' })),
  }),
)

function recordOf({ name, condition }: Goal) {
  if (condition.kind === 'path') return { name, kind: condition.kind, path: condition.pattern }
  const { kind, event, property } = condition
  return { name, kind, event, ...(property && { property: { key: property.key, value: property.value } }) }
}
