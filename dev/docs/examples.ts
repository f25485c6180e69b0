// Real answers for the reference, from the demo site at a fixed time: the same seed gives the same site, so they never change by
// themselves.
import { example } from '../../src/api/openapi-text.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { periodsOf } from '../../src/stats/period.ts'
import type { Report } from '../../src/stats/report.ts'
import { reports } from '../../src/stats/reports.ts'
import { createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { clickhouseMigrations } from '../../src/stores/migrate.ts'
import { startClickHouse } from '../clickhouse/server.ts'

const siteId = 'site_demosite22222222'
const zone = 'Europe/Berlin'
const now = Temporal.Instant.from('2026-11-15T12:00:00Z')

/** The demo site of the examples, but for its id. */
export const demoSite = { domain: 'demo.example', zone, events: 20_000, seed: 1, until: now.epochMilliseconds }

export async function demoExamples(): Promise<Record<string, unknown>> {
  const server = await startClickHouse()
  const url = `${server.url}/examples`
  await createClickHouseDatabase(url)
  const clickhouse = openClickHouse(url)
  for (const statement of clickhouseMigrations()) await clickhouse.command(statement)
  await generateDemo({ clickhouse, siteId, ...demoSite })
  const query = {
    siteId,
    ...periodsOf({ name: example.range }, now.toZonedDateTimeISO(zone)),
    filters: {},
    excludedCountries: [],
    folds: [],
    limit: example.limit,
  }
  const examples: Record<string, unknown> = {}
  for (const [name, report] of Object.entries<Report>(reports)) {
    examples[name] = {
      data: (await report.read(clickhouse, query)).data,
      meta: {
        site_id: siteId,
        range: example.range,
        ...(report.limited && { limit: example.limit }),
        generated_at: now.toString({ smallestUnit: 'millisecond' }),
      },
    }
  }
  await clickhouse.close()
  await server.stop()
  return examples
}
