// /api/v2/stats: any question about a site (docs/questions.md).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { csvType } from '../stats/csv.ts'
import { type CsvRow, csvOf } from '../stats/questions/csv.ts'
import { limits, readQuestion } from '../stats/questions/parameters.ts'
import { type Question, type QuestionKind, questionKinds } from '../stats/questions/question.ts'
import type { QuestionResult } from '../stats/questions/questions.ts'
import { prefersCsv } from './accepted-format.ts'
import { guardSite } from './access.ts'
import { sendContent, withinDeadline } from './responses.ts'
import type { StatsRouteServices } from './stats-routes.ts'

/** The scope of /api/v2/stats, behind the gate of v1. */
export function questionRoutes(app: FastifyInstance, { stats, ...gatekeepers }: StatsRouteServices): void {
  guardSite(app, gatekeepers)
  for (const kind of questionKinds) {
    app.get(`/${kind}`, async (request, reply) => {
      const { key, site, queryString, url } = request
      const asCsv = isList(kind) && prefersCsv(request.headers.accept)
      const maxLimit = asCsv ? limits.csv : limits.json
      const { question, now, warnings } = readQuestion(queryString, url, { kind, goals: site.goals, maxLimit })
      const result = await withinDeadline(request, reply, (signal) =>
        stats.ask({ site, question, now, queueKey: key.accountId }, signal),
      )
      return send(request, reply, question, result, asCsv, warnings)
    })
  }
}

const isList = (kind: QuestionKind): boolean => kind !== 'totals'

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question,
  result: QuestionResult,
  asCsv: boolean,
  requestWarnings: readonly string[],
): FastifyReply {
  const { json, identity, period, previousPeriod, totalRows, staleMs, source } = result
  reply.headers({
    'Stats-Period': period,
    'Stats-Source': source,
    ...(previousPeriod && { 'Stats-Previous-Period': previousPeriod }),
    ...(totalRows !== undefined && { 'Stats-Total-Rows': String(totalRows) }),
  })
  const tooMany = asCsv && totalRows !== undefined ? [`the list has ${totalRows} rows, more than limit`] : []
  return sendContent(request, reply, {
    identity: asCsv ? `${identity}.csv` : identity,
    ...(isList(question.kind) && { vary: 'Accept' }),
    warnings: [...requestWarnings, ...result.warnings, ...tooMany],
    staleMs,
    ...(asCsv ? { type: csvType, body: () => csvOf(question, result.data as CsvRow[]) } : { body: () => json }),
  })
}
