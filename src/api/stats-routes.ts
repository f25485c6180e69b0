import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { ApiKey } from '../accounts/keys.ts'
import type { Site } from '../accounts/sites.ts'
import { intervalOf, type Period, periodsOf, type Range, withWholeLastDay } from '../stats/period.ts'
import { endsInDroppedDay, readsOpenDays, recentCount } from '../stats/plan.ts'
import type { StatsQuery } from '../stats/query.ts'
import type { Report } from '../stats/report.ts'
import { reports } from '../stats/reports.ts'
import { Unavailable } from '../stores/breaker.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { authenticate, type Gatekeepers, resolveSite } from './access.ts'
import type { Answer, Answers } from './answers.ts'
import { type Parameters, readParameters, warningsOf } from './parameters.ts'
import { type QueryString, readQueryString } from './query-string.ts'
import type { Turns } from './turns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate, before any handler runs. */
    key: ApiKey
    site: Site
    parameters: QueryString
  }
}

export interface StatsServices extends Gatekeepers {
  clickhouse: ClickHouseReader
  turns: Turns
  answers: Answers
}

/** Everything a request waits for together; the signal of the request aborts the rest. */
const requestDeadlineMs = 5_000

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
    const schema = { summary: report.summary, response: { 200: envelope(report) } }
    app.get(`/${name}`, { schema }, (request, reply) => answer(name, report, services, request, reply))
  }
}

async function answer(
  name: string,
  report: Report,
  { clickhouse, now, turns, answers }: StatsServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { site, key, parameters: sent, headers } = request
  const parameters = readParameters(sent)
  const askedAt = now()
  const open = recentCount(site.open, askedAt)
  const generatedAt = Temporal.Instant.fromEpochMilliseconds(open?.asOf ?? askedAt)
  const { current, previous } = periodsOf(rangeOf(parameters), generatedAt.toZonedDateTimeISO(site.timeZone))
  const isWidened = name === 'overview' && endsInDroppedDay(previous, site.folds, site.eventsFrom)
  const periods = { current, previous: isWidened ? withWholeLastDay(previous) : previous }
  const query: StatsQuery = {
    siteId: site.id,
    ...periods,
    filters: parameters.filters,
    excludedCountries: site.excludedCountries,
    folds: site.folds,
    open,
    limit: parameters.limit,
  }
  const asked = name === 'overview' ? (['current', 'previous'] as const) : (['current'] as const)
  // Everything that decides the answer but the time: who asks is not in it, the site and its exclusions are.
  const question = JSON.stringify([name, site.id, site.timeZone, site.excludedCountries, parameters])
  const state = JSON.stringify([site.folds, site.late, open?.version])
  const compute = async (givenUp: AbortSignal): Promise<Answer> => {
    const { data, totalRows = 0 } = await report.read(clickhouse, query, givenUp)
    const isCut = report.limited && totalRows > parameters.limit
    const serialize = reply.compileSerializationSchema(report.data as unknown as Record<string, unknown>)
    const text = serialize(data as Record<string, unknown>)
    const meta = JSON.stringify({
      site_id: site.id,
      range: parameters.range,
      ...(report.limited && { limit: parameters.limit }),
      generated_at: generatedAt.toString({ smallestUnit: 'millisecond' }),
    })
    const fresh: Answer = {
      body: `{"data":${text},"meta":${meta}}`,
      etag: etagOf(question, text),
      headers: {
        'Stats-Period': intervalOf(periods.current),
        ...(name === 'overview' && { 'Stats-Previous-Period': intervalOf(periods.previous) }),
        ...(isCut && { 'Stats-Total-Rows': String(totalRows) }),
      },
      warnings: isWidened ? [wholeDay(previous)] : [],
      generatedAt: generatedAt.epochMilliseconds,
      askedAt,
      state,
      // A title may change with any event, whatever the period (decision D-18). A window that ends now moves on, also where the site
      // has moved west and today was settled already under its earlier zone.
      settled:
        name !== 'pages' &&
        periods.current.end.epochMilliseconds < generatedAt.epochMilliseconds &&
        !readsOpenDays(query, asked, site.settledThrough),
    }
    answers.keep(question, fresh)
    return fresh
  }
  const known = () => answers.fresh(question, state, now())
  // Everybody waits for a turn of their own, so that nobody waits in the queue of somebody else's key.
  const ask = () =>
    whileWanted(request, reply, (signal) =>
      turns.take(key.id, signal, async () => known() ?? answers.share(`${question} ${state}`, signal, compute)),
    )
  const warnings = warningsOf(sent, parameters, report.limited)
  try {
    return send(reply, headers['if-none-match'], known() ?? (await ask()), warnings)
  } catch (error) {
    const last = error instanceof Unavailable ? answers.last(question, now()) : undefined
    if (!last) throw error
    return send(reply, headers['if-none-match'], last, [...warnings, repeated(now() - last.generatedAt)])
  }
}

const wholeDay = ({ lastDay }: Period): string =>
  `the previous period ends with all of ${lastDay}, because single events of that day are no longer kept`

const repeated = (ageMs: number): string =>
  `this is the last known answer, ${Math.max(0, Math.round(ageMs / 1000))} seconds old, because the statistics cannot be read now`

/** One signal from the request down to the query: it aborts when the client goes away, or when the request has had its time. */
async function whileWanted<Value>(
  { startedAt }: FastifyRequest,
  { raw: response }: FastifyReply,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController()
  const leftMs = startedAt + requestDeadlineMs - performance.now()
  const timer = setTimeout(() => controller.abort(new Error('The request took too long')), leftMs)
  const leave = () => controller.abort(new Error('The client went away'))
  response.on('close', leave)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    response.off('close', leave)
  }
}

function send(
  reply: FastifyReply,
  known: string | undefined,
  { body, etag, headers, warnings: ofAnswer }: Answer,
  ofRequest: readonly string[],
): FastifyReply {
  reply.headers({
    ...headers,
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Accept-Encoding',
  })
  const warnings = [...ofRequest, ...ofAnswer]
  if (warnings.length > 0) reply.header('Stats-Warning', warnings.join('; '))
  if (matches(known, etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}

const rangeOf = ({ range, start, end }: Parameters): Range =>
  range === 'custom'
    ? { name: range, firstDay: start as Temporal.PlainDate, lastDay: end as Temporal.PlainDate }
    : { name: range }

/** Over everything but generated_at: the same numbers for the same question are the same answer (decision D-61). */
const etagOf = (question: string, data: string): string =>
  `W/"${hash('sha256', `${question} ${data}`, 'base64url').slice(0, 27)}"`

const matches = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^(W\/)?/, 'W/') === tag))

/** docs/contract.md 2.1 and 2.2. */
export const envelope = (report: Report) =>
  Type.Object({
    data: report.data,
    meta: Type.Object({
      site_id: Type.String({ description: 'The site that the numbers are about.' }),
      range: Type.String({ description: 'The range that was applied.' }),
      ...(report.limited && { limit: Type.Integer({ description: 'The limit that was applied.' }) }),
      generated_at: Type.String({ format: 'date-time', description: 'When the numbers were computed, in UTC.' }),
    }),
  })
