// Real responses for the reference, from the demo site at a fixed time. The same seed gives the same site, so the examples change only with
// the code.
import { countries } from '../../src/api/endpoints.ts'
import { example } from '../../src/api/openapi-text.ts'
import { exampleEvent, exampleQuestions } from '../../src/api/question-text.ts'
import { periodsOf } from '../../src/calendar/periods.ts'
import { clickhouseMigrations } from '../../src/cluster/migrate.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { planQuery } from '../../src/stats/daily-metrics.ts'
import type { LiveState } from '../../src/stats/live.ts'
import { sitesParameters } from '../../src/stats/parameters.ts'
import { readQueryString } from '../../src/stats/query-string.ts'
import { limits, readQuestion } from '../../src/stats/questions/parameters.ts'
import { questionKinds } from '../../src/stats/questions/question.ts'
import { questionQuery } from '../../src/stats/questions/questions.ts'
import type { Report } from '../../src/stats/report.ts'
import { reports } from '../../src/stats/reports.ts'
import { readSitesOverview } from '../../src/stats/sites-overview.ts'
import { type ClickHouseReader, openClickHouse } from '../../src/stores/clickhouse.ts'
import type { Whereabouts } from '../../src/tracing/whereabouts.ts'
import { createTemporaryDatabase } from '../clickhouse/temporary-database.ts'

const siteId = 'site_demosite22222222'
const zone = 'Europe/Berlin'
const now = Temporal.Instant.from('2026-11-15T12:00:00Z')

/** The demo site of the examples, without its id. */
export const demoSite = { domain: 'demo.example', zone, events: 20_000, seed: 1, until: now.epochMilliseconds }

export interface DemoExamples {
  reports: Record<string, unknown>
  questions: Record<string, unknown>
}

export async function demoExamples(): Promise<DemoExamples> {
  const database = await createTemporaryDatabase()
  const clickhouse = openClickHouse(database.url)
  for (const statement of clickhouseMigrations()) await clickhouse.command(statement)
  await generateDemo({ clickhouse, siteId, ...demoSite })
  const examples = { reports: await reportExamples(clickhouse), questions: await questionExamples(clickhouse) }
  await clickhouse.close()
  await database.remove()
  return examples
}

async function reportExamples(clickhouse: ClickHouseReader): Promise<Record<string, unknown>> {
  const query = {
    siteId,
    ...periodsOf({ name: example.range }, now.toZonedDateTimeISO(zone)),
    filters: {},
    excludedCountries: [],
    limit: example.limit,
  }
  const examples: Record<string, unknown> = {}
  const generatedAt = now.toString({ smallestUnit: 'millisecond' })
  for (const [name, report] of Object.entries<Report>(reports)) {
    examples[name] = {
      data: (await report.read(clickhouse, planQuery(query, { versions: [], byDay: report.byDay ?? false }))).data,
      meta: {
        site_id: siteId,
        range: example.range,
        ...(report.limited && { limit: example.limit }),
        generated_at: generatedAt,
      },
    }
  }
  const { domain } = demoSite
  const site = { ...planQuery(query, { versions: [], byDay: false }), domain }
  examples.sites = {
    data: [{ site_id: siteId, domain, time_zone: zone }],
    meta: { limit: null, next_cursor: null, generated_at: generatedAt },
  }
  examples.sitesOverview = {
    data: await readSitesOverview(clickhouse, [site]),
    meta: {
      range: example.range,
      limit: sitesParameters.limit.default,
      next_cursor: null,
      generated_at: generatedAt,
    },
  }
  examples.countries = { data: countries.slice(0, example.limit), meta: { generated_at: generatedAt } }
  return examples
}

async function questionExamples(clickhouse: ClickHouseReader): Promise<Record<string, unknown>> {
  const coverage = {
    versions: [],
    today: null,
    settledThrough: null,
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  }
  const site = { id: siteId, timeZone: zone, excludedCountries: [], goals: [], shard: 1, coverage }
  const examples: Record<string, unknown> = {}
  for (const kind of questionKinds) {
    const url = `?${Object.entries(exampleQuestions[kind])
      .map(([name, value]) => `${name}=${value}`)
      .join('&')}`
    const { question } = readQuestion(readQueryString(url), url, { kind, goals: [], maxLimit: limits.json })
    const request = { site, question, queueKey: '' }
    const { prepare } = questionQuery({ of: () => clickhouse }, request, now.epochMilliseconds)
    examples[kind] = JSON.parse((await prepare()(AbortSignal.timeout(10_000))).json)
  }
  examples.goals = {
    data: [
      { name: 'Blog', kind: 'path', path: '/blog/**' },
      { name: 'Pro plan', kind: 'event', event: 'Signup', property: { key: 'plan', value: 'pro' } },
    ],
    meta: { site_id: siteId, generated_at: now.toString({ smallestUnit: 'millisecond' }) },
  }
  examples.event = {
    data: eventExample,
    meta: { site_id: siteId, generated_at: now.toString({ smallestUnit: 'millisecond' }) },
  }
  examples.live = { data: liveExample, meta: { site_id: siteId, generated_at: '2026-11-15T12:00:12.345Z' } }
  return examples
}

/** Events of the demo have no ids. */
const eventExample: Whereabouts = {
  id: exampleEvent,
  state: 'counted',
  message:
    'Counted on 2026-11-15 (Europe/Berlin), in the session that began at 2026-11-15T11:38:12.004Z with the source google.com, channel Organic Search.',
  day: '2026-11-15',
  time: '2026-11-15T11:41:30.500Z',
  event: 'Signup',
  page: '/signup',
  hostname: 'demo.example',
  reason: null,
  session: {
    began: '2026-11-15T11:38:12.004Z',
    channel: 'Organic Search',
    referrer: 'google.com',
    utm_source: null,
  },
  looked_at: { first_day: '2026-11-12', last_day: '2026-11-16', spool: 'none' },
}

/** Hardly anybody is on the demo site in any five minutes. Of the thirty minutes it has the last three. */
const liveExample: LiveState = {
  visitors: 2,
  pages: [
    { page: '/', visitors: 1 },
    { page: '/pricing', visitors: 1 },
  ],
  countries: [{ country: 'DE', visitors: 2 }],
  sources: [
    { source: null, visitors: 1 },
    { source: 'google.com', visitors: 1 },
  ],
  events: [{ event: 'Signup', times: 1 }],
  minutes: [
    { time: '2026-11-15T11:58:00.000Z', pageviews: 0 },
    { time: '2026-11-15T11:59:00.000Z', pageviews: 1 },
    { time: '2026-11-15T12:00:00.000Z', pageviews: 1 },
  ],
  hits: [
    {
      id: '11400714819323198485',
      time: '2026-11-15T12:00:09.120Z',
      event: 'pageview',
      page: '/pricing',
      country: 'DE',
      source: 'google.com',
    },
    {
      id: '10208351782915243131',
      time: '2026-11-15T11:59:41.007Z',
      event: 'pageview',
      page: '/',
      country: 'DE',
      source: null,
    },
    {
      id: '6791835018365520129',
      time: '2026-11-15T11:41:30.500Z',
      event: 'Signup',
      page: '/signup',
      country: 'US',
      source: 'newsletter',
    },
  ],
}
