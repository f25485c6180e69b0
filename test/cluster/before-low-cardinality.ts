// Installations of the version before texts of `events` became LowCardinality (decision D-217).
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { migrate } from '../../src/cluster/migrate.ts'
import type { AllStores } from '../../src/cluster/stores.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'

export const file = 'clickhouse/0005_low_cardinality.sql'
export const columns = ['name', 'hostname', 'pathname', 'referrer', 'utm_source']

/** Migrates to the version before the columns changed, and before these other files. */
export async function migrateToBefore(t: TestContext, stores: AllStores, ...later: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-migrations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(new URL('../../migrations/', import.meta.url), folder, { recursive: true })
  for (const name of [file, ...later]) rmSync(join(folder, name))
  return migrate(stores, { folder: pathToFileURL(`${folder}/`) })
}

/** One part, of one month. Paths are unique, so that they take the most bytes. */
export const fill = (clickhouse: ClickHouse, events: number, month: string) =>
  clickhouse.command(`
    INSERT INTO events (site_id, day, time, visitor_id, session_id, event_id, name, hostname, pathname, referrer, channel, utm_source, country, device)
    SELECT concat('site', toString(number % 30)), toDate('${month}-01') + number % 25 AS day, toDateTime64(day, 3), cityHash64(number % 9000),
      cityHash64(number % 9000, 1), cityHash64(number, 2), if(number % 10 = 0, 'signup', 'pageview'), concat('host', toString(number % 30), '.example'),
      concat('/', hex(cityHash64(number, 3)), hex(cityHash64(number, 4))), if(number % 3 = 0, concat('from', toString(number % 97), '.example'), ''),
      'Direct', if(number % 7 = 0, 'newsletter', ''), 'DE', 'Desktop'
    FROM numbers(${events})`)

/** Of all that the columns hold. */
export const contentOf = (clickhouse: ClickHouse) =>
  clickhouse.rowsPatiently(sql`
    SELECT count() AS events, uniqExact(pathname) AS paths, countIf(hostname = 'host7.example') AS ofHost,
      toString(sum(cityHash64(name, hostname, pathname, referrer, utm_source))) AS hash
    FROM events`)

export const mutationsOf = async (clickhouse: ClickHouse): Promise<string[]> =>
  (
    await clickhouse.rows<{ column: string }>(sql`
      SELECT extract(command, 'MODIFY COLUMN .(\\w+)') AS column FROM system.mutations
      WHERE database = currentDatabase() ORDER BY create_time, mutation_id`)
  ).map(({ column }) => column)
