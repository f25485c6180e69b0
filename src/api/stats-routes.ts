import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { ApiKey } from '../accounts/keys.ts'
import type { Site } from '../accounts/sites.ts'
import { intervalOf, periodsOf, type Range } from '../stats/period.ts'
import type { Report } from '../stats/report.ts'
import { reports } from '../stats/reports.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { authenticate, type Gatekeepers, resolveSite } from './access.ts'
import { type Parameters, readParameters, warningsOf } from './parameters.ts'
import { type QueryString, readQueryString } from './query-string.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate, before any handler runs. */
    key: ApiKey
    site: Site
    parameters: QueryString
  }
}

export interface StatsServices extends Gatekeepers {
  clickhouse: ClickHouse
}

/** The scope of /api/v1/stats: its hooks are the gate, so a route added inside cannot miss it. */
export function statsRoutes(app: FastifyInstance, services: StatsServices): void {
  app.addHook('onRequest', async (request, reply) => {
    request.key = await authenticate(request, reply, services)
  })
  app.addHook('preHandler', async (request) => {
    request.parameters = readQueryString(request.url)
    request.site = await resolveSite(request.key, request.parameters, services.directory)
  })
  for (const [name, report] of Object.entries<Report>(reports)) {
    app.get(
      `/${name}`,
      { schema: { summary: report.summary, response: { 200: envelope(report) } } },
      (request, reply) => answer(name, report, services, request, reply),
    )
  }
}

async function answer(
  name: string,
  report: Report,
  { clickhouse, now }: StatsServices,
  { site, parameters: sent, headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parameters = readParameters(sent, site.timeZone)
  const generatedAt = Temporal.Instant.fromEpochMilliseconds(now())
  const periods = periodsOf(rangeOf(parameters), generatedAt.toZonedDateTimeISO(site.timeZone))
  const data = await report.read(clickhouse, {
    siteId: site.id,
    ...periods,
    filters: parameters.filters,
    excludedCountries: site.excludedCountries,
    limit: parameters.limit,
  })

  reply.headers({
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Accept-Encoding',
    'Stats-Period': intervalOf(periods.current),
  })
  if (name === 'overview') reply.header('Stats-Previous-Period', intervalOf(periods.previous))
  const warnings = warningsOf(sent, parameters, report.limited)
  if (warnings.length > 0) reply.header('Stats-Warning', warnings.join('; '))

  const serialize = reply.compileSerializationSchema(report.data as unknown as Record<string, unknown>)
  const text = serialize(data as Record<string, unknown>)
  const tag = etagOf(name, site.id, parameters, text)
  reply.header('ETag', tag)
  if (matches(headers['if-none-match'], tag)) return reply.code(304).send()

  const meta = JSON.stringify({
    site_id: site.id,
    range: parameters.range,
    ...(report.limited && { limit: parameters.limit }),
    generated_at: generatedAt.toString({ smallestUnit: 'millisecond' }),
  })
  return reply.type('application/json; charset=utf-8').send(`{"data":${text},"meta":${meta}}`)
}

const rangeOf = ({ range, start, end }: Parameters): Range =>
  range === 'custom'
    ? { name: range, firstDay: start as Temporal.PlainDate, lastDay: end as Temporal.PlainDate }
    : { name: range }

/** Over everything but generated_at: the same numbers for the same question are the same answer (decision D-61). */
const etagOf = (name: string, siteId: string, parameters: Parameters, data: string): string =>
  `W/"${hash('sha256', `${name} ${siteId} ${JSON.stringify(parameters)} ${data}`, 'base64url').slice(0, 27)}"`

const matches = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^(W\/)?/, 'W/') === tag))

/** docs/contract.md 2.1 and 2.2. */
const envelope = (report: Report) =>
  Type.Object({
    data: report.data,
    meta: Type.Object({
      site_id: Type.String(),
      range: Type.String(),
      ...(report.limited && { limit: Type.Integer() }),
      generated_at: Type.String({ format: 'date-time' }),
    }),
  })
