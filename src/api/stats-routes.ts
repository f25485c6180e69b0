import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../accounts/keys.ts'
import type { Site } from '../accounts/sites.ts'
import { csvOf, csvType, isList, type ListRow } from '../stats/csv.ts'
import { readParameters, warningsOf } from '../stats/parameters.ts'
import type { QueryString } from '../stats/query-string.ts'
import { type ReportName, reports, type StatsResult } from '../stats/reports.ts'
import type { StatsService } from '../stats/service.ts'
import { prefersCsv } from './accepted-format.ts'
import { type Gatekeepers, guardSite } from './access.ts'
import { sendContent, withinDeadline } from './responses.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate, before any handler runs. */
    key: ApiKey
    site: Site
    queryString: QueryString
  }
}

export interface StatsRouteServices extends Gatekeepers {
  stats: StatsService
}

/** The scope of /api/v1/stats. */
export function statsRoutes(app: FastifyInstance, { stats, ...gatekeepers }: StatsRouteServices): void {
  guardSite(app, gatekeepers)
  for (const report of Object.keys(reports) as ReportName[]) {
    app.get(`/${report}`, async (request, reply) => {
      const { key, site, queryString } = request
      const parameters = readParameters(queryString)
      const result = await withinDeadline(request, reply, (signal) =>
        stats.read({ report, site, parameters, queueKey: key.id }, signal),
      )
      const unused = reports[report].limited ? [] : (['limit'] as const)
      return send(request, reply, report, result, warningsOf(queryString, parameters, unused))
    })
  }
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  report: ReportName,
  result: StatsResult,
  requestWarnings: readonly string[],
): FastifyReply {
  const { json, identity, period, previousPeriod, totalRows, staleMs, warnings } = result
  const asCsv = isList(report) && prefersCsv(request.headers.accept)
  reply.headers({
    'Stats-Period': period,
    ...(previousPeriod && { 'Stats-Previous-Period': previousPeriod }),
    ...(totalRows !== undefined && { 'Stats-Total-Rows': String(totalRows) }),
  })
  return sendContent(request, reply, {
    identity: asCsv ? `${identity}.csv` : identity,
    ...(isList(report) && { vary: 'Accept' }),
    warnings: [...requestWarnings, ...warnings],
    staleMs,
    ...(asCsv ? { type: csvType, body: () => csvOf(report, result.data as ListRow[]) } : { body: () => json }),
  })
}
