// Endpoints about all sites of a key: the list, and the overview of each (docs/contract.md 4.2).
import fastJson from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'
import type { ListedSite } from '../accounts/sites.ts'
import { cursorAfter } from '../stats/cursor.ts'
import {
  type ReadParameters,
  readParameters,
  siteListParameters,
  sitesParameters,
  warningsOf,
} from '../stats/parameters.ts'
import { readQueryString } from '../stats/query-string.ts'
import { identityOf } from '../stats/reports.ts'
import { sitesOverview } from '../stats/sites-overview.ts'
import { authenticate, resolveSites } from './access.ts'
import { sitesShape } from './endpoints.ts'
import { sendContent, withinDeadline } from './responses.ts'
import type { StatsRouteServices } from './stats-routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate for the endpoints about several sites, by domain. */
    sites: readonly ListedSite[]
  }
}

const serializeSites = fastJson(sitesShape as fastJson.Schema)

/** Parameters without effect on the list of sites, which has neither a period nor filters. */
const unusedByList = siteListParameters.names.filter((name) => !['site_id', 'limit', 'cursor'].includes(name))

/** The scope of /sites, with the same gate as /stats. */
export function sitesRoutes(app: FastifyInstance, { stats, ...gatekeepers }: StatsRouteServices): void {
  const { directory, now } = gatekeepers
  app.addHook('onRequest', async (request, reply) => {
    request.key = await authenticate(request, reply, gatekeepers)
  })
  app.addHook('preHandler', async (request) => {
    request.queryString = readQueryString(request.url)
    request.sites = await resolveSites(request.key, request.queryString, directory)
  })

  app.get('/sites', async (request, reply) => {
    const { queryString } = request
    const parameters = readParameters(queryString, siteListParameters)
    const { page, nextCursor } = pageOf(request.sites, parameters)
    const limit = Number.isFinite(parameters.limit) ? parameters.limit : null
    const paging = { limit, next_cursor: nextCursor }
    const data = serializeSites(page.map(({ id, domain, timeZone }) => ({ site_id: id, domain, time_zone: timeZone })))
    return sendContent(request, reply, {
      identity: identityOf(`sites ${data} ${JSON.stringify(paging)}`),
      warnings: warningsOf(queryString, parameters, unusedByList, siteListParameters),
      body: () => envelope(data, { ...paging, generated_at: new Date(now()).toISOString() }),
    })
  })

  app.get('/sites/overview', async (request, reply) => {
    const { key, queryString } = request
    const parameters = readParameters(queryString, sitesParameters)
    const { page, nextCursor } = pageOf(request.sites, parameters)
    const sitesOfPage = await directory.sites(page.map(({ id }) => id))
    const sites = sitesOfPage.filter(({ accountId }) => accountId === key.accountId)
    const result = await withinDeadline(request, reply, (signal) =>
      stats.readSites({ report: sitesOverview, sites, parameters, queueKey: key.id }, signal),
    )
    const { range, limit } = parameters
    const paging = { range: range.name, limit, next_cursor: nextCursor }
    return sendContent(request, reply, {
      identity: identityOf(`${result.identity} ${JSON.stringify(paging)}`),
      warnings: [...warningsOf(queryString, parameters, [], sitesParameters), ...result.warnings],
      staleMs: result.staleMs,
      body: () => envelope(result.json, { ...paging, generated_at: new Date(result.generatedAt).toISOString() }),
    })
  })
}

function pageOf(sites: readonly ListedSite[], { limit, after }: ReadParameters) {
  const rest = after === undefined ? sites : sites.filter(({ domain }) => domain > after)
  const page = rest.slice(0, limit)
  return { page, nextCursor: rest.length > limit ? cursorAfter(page.at(-1)?.domain as string) : null }
}

const envelope = (data: string, meta: object): string => `{"data":${data},"meta":${JSON.stringify(meta)}}`
