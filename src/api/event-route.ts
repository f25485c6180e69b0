// GET /api/v2/events/:id: where an event is (decision D-248).
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.ts'
import { maxParameters, oneDate, parameterNames, refuseVariants, warningsOf } from '../stats/parameters.ts'
import { identityOf } from '../stats/reports.ts'
import { isEventId, type Places, whereIs } from '../tracing/whereabouts.ts'
import { guardSite } from './access.ts'
import { sendContent, withinDeadline } from './responses.ts'
import type { StatsRouteServices } from './stats-routes.ts'

export interface EventRouteServices extends StatsRouteServices {
  /** The event among those that the site dropped. */
  findDropped(siteId: string, eventId: string): ReturnType<Places['dropped']>
  /** The event on the disk of the collector, if one runs in this process. */
  findInSpool?: ((siteId: string, eventId: string) => ReturnType<NonNullable<Places['spool']>>) | undefined
}

const parameters = ['site_id', 'day'] as const
/** It has neither a period nor filters. */
const unused = parameterNames.filter((name) => name !== 'site_id')

export function eventRoute(app: FastifyInstance, services: EventRouteServices): void {
  const { stats, findDropped, findInSpool, now } = services
  guardSite(app, services)
  app.get<{ Params: { id: string } }>('/events/:id', async (request, reply) => {
    const { key, site, queryString } = request
    refuseVariants(queryString, parameters)
    if (queryString.size > maxParameters)
      throw new ApiError('invalid_parameter', `At most ${maxParameters} parameters may be sent.`)
    const id = request.params.id.toLowerCase()
    if (!isEventId(id))
      throw new ApiError(
        'invalid_parameter',
        'The id of an event is a UUID, such as 3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52.',
      )
    const day = oneDate(queryString, 'day')?.toString()
    const found = await withinDeadline(request, reply, (signal) => {
      const places: Places = {
        stored: (days) => stats.event({ site, eventId: id, days, queueKey: key.accountId }, signal),
        dropped: () => findDropped(site.id, id),
        spool: findInSpool && (() => findInSpool(site.id, id)),
      }
      return whereIs(id, site, places, { day, now: now() })
    })
    const data = JSON.stringify(found)
    return sendContent(request, reply, {
      identity: identityOf(`event ${site.id} ${data}`),
      warnings: warningsOf(queryString, { range: { name: '30d' } }, unused, { names: [...parameterNames, 'day'] }),
      body: () => {
        const meta = { site_id: site.id, generated_at: new Date(now()).toISOString() }
        return `{"data":${data},"meta":${JSON.stringify(meta)}}`
      },
    })
  })
}
