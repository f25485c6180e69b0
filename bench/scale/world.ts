// The measured installation: one ClickHouse with a whale, the same site with a tenth and a hundredth of its traffic, and many small
// sites, all in the same tables; and a separate PostgreSQL database. It is created once and kept in the cache folder.
import { createHash } from 'node:crypto'
import { type ClickHouseServer, startClickHouse } from '../../dev/clickhouse/server.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { monthStatements, rollupStatements } from '../../src/rollups/statements.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { render, type Sql, type Statement, sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { createPostgresDatabase, openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { databaseUrl, keySecrets } from '../../test/support/stores.ts'
import { type BenchSite, base32, kinds, siteOf, smallSites, whaleShape } from './sites.ts'
import { fingerprint, openState, type State } from './state.ts'

export interface World {
  state: State
  now: Temporal.ZonedDateTime
  clickhouseServer: ClickHouseServer
  clickhouse: ClickHouse
  clickhouseUrl: string
  postgres: Postgres
  postgresUrl: string
  accountId: string
  /** The whale, a tenth and a hundredth of it. */
  sizes: readonly [BenchSite, BenchSite, BenchSite]
  /** The most queried ones first. */
  small: readonly BenchSite[]
  /** For child processes: the stores, and a clock that starts at the end of the traffic. */
  environment: Record<string, string>
  close(): Promise<void>
}

export interface WorldOptions {
  events: number
  sites: number
  fresh: boolean
  say: (text: string) => void
}

export async function openWorld({ events, sites, fresh, say }: WorldOptions): Promise<World> {
  // The name depends on everything that generates the traffic, so that old traffic is never used for new code.
  const made = fingerprint('src/demo/*.ts', 'migrations/clickhouse/0*.sql', 'bench/scale/sites.ts')
  const state = openState(`scale-${events}-${sites}-${made}`, fresh)
  const clickhouseServer = await startClickHouse({ folder: state.folder })
  const clickhouseUrl = `${clickhouseServer.url}/footfall`
  const postgresUrl = Object.assign(new URL(databaseUrl), { pathname: `/footfall_bench_${hashOf(state.folder)}` }).href
  await createClickHouseDatabase(clickhouseUrl)
  const clickhouse = openClickHouse(clickhouseUrl)
  await forgetOldRollups(state, clickhouse, postgresUrl)
  await createPostgresDatabase(postgresUrl)
  const postgres = openPostgres(postgresUrl, 4)
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })

  const sizes = [1, 10, 100].map((part) => {
    const size = Math.round(events / part)
    return siteOf(part === 1 ? 'whale' : `whale/${part}`, size)
  }) as [BenchSite, BenchSite, BenchSite]
  const small = smallSites(sites)
  const accountId = await knownSites(postgres, state.zone, [...sizes, ...small])
  const shift = state.until - Date.now()
  return {
    state,
    now: Temporal.Instant.fromEpochMilliseconds(state.until).toZonedDateTimeISO(state.zone),
    clickhouseServer,
    clickhouse,
    clickhouseUrl,
    postgres,
    postgresUrl,
    accountId,
    sizes,
    small,
    environment: {
      DATABASE_URL: postgresUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
      FOOTFALL_BENCH_CLOCK_SHIFT: `${shift}`,
      NODE_OPTIONS: `--import ${new URL('clock.ts', import.meta.url).href}`,
    },
    async close() {
      await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
      await clickhouseServer.stop()
      say('stopped; the data stays for the next run')
    },
  }
}

/** Returns its number of events. */
export function makeSite({ clickhouse, state }: World, site: BenchSite, say: (text: string) => void): Promise<number> {
  return state.once(`made ${site.name}`, async () => {
    await clear(clickhouse, sql`events`, [site])
    let said = 0
    const { events } = await generateDemo({
      clickhouse,
      siteId: site.id,
      domain: site.domain,
      zone: state.zone,
      events: site.events,
      seed: 1,
      until: state.until,
      ...(site.name.startsWith('whale') && { shape: whaleShape }),
      onProgress(done, total) {
        if (Date.now() - said < 5_000) return
        said = Date.now()
        say(`${site.name}: ${Math.round((100 * done) / total)} % of ${total.toLocaleString('en')} events`)
      },
    })
    return events
  })
}

/** Generates the first site of each kind and copies it for the others with their own ids: generating each would take minutes. */
export async function makeSmallSites(world: World, say: (text: string) => void): Promise<void> {
  for (const kind of kinds) {
    const [first, ...others] = world.small.filter(({ events }) => events === kind.events) as [BenchSite, ...BenchSite[]]
    await makeSite(world, first, say)
    await world.state.once(`copied ${first.name}`, () => copy(world, first, others))
    say(`${others.length + 1} sites of ${kind.events.toLocaleString('en')} events`)
  }
}

/** Returns the number of events of all copies. */
async function copy({ clickhouse }: World, from: BenchSite, to: readonly BenchSite[]): Promise<number> {
  if (to.length === 0) return 0
  const ids = texts(to.map(({ id }) => id))
  for (const table of [sql`events`, sql`titles`]) {
    await clear(clickhouse, table, to)
    // Selected first: next to the new site_id, a condition on site_id would mean the new one.
    const original = sql`(SELECT * FROM ${table} WHERE site_id = ${text(from.id)})`
    await clickhouse.run(
      sql`INSERT INTO ${table} SELECT * REPLACE (arrayJoin(${ids}) AS site_id) FROM ${original}`,
      { insert_deduplicate: 0 }, // or the deleted copies of an interrupted run would count as duplicates
    )
  }
  const count = async (sites: readonly BenchSite[]) => {
    const [row] = await clickhouse.rows<{ events: number }>(
      sql`SELECT count() AS events FROM events WHERE site_id IN ${texts(sites.map(({ id }) => id))}`,
    )
    return row?.events ?? 0
  }
  const [one, all] = [await count([from]), await count(to)]
  if (all !== one * to.length) throw new Error(`${to.length} copies of ${one} events are ${all}`)
  return all
}

/** Deletes what an interrupted run left. */
async function clear(clickhouse: ClickHouse, table: Sql, sites: readonly BenchSite[]): Promise<void> {
  const theirs = sql`site_id IN ${texts(sites.map(({ id }) => id))}`
  const [row] = await clickhouse.rows<{ left: number }>(sql`SELECT count() AS left FROM ${table} WHERE ${theirs}`)
  if (row?.left) await clickhouse.run(sql`DELETE FROM ${table} WHERE ${theirs}`)
}

/** Waits until merges are done, or for the given time: most tables are at rest, and the figures should be those. */
export async function settle({ clickhouse }: World, maxSeconds: number): Promise<void> {
  const until = Date.now() + maxSeconds * 1_000
  for (let quiet = 0; quiet < 3 && Date.now() < until; ) {
    const [row] = await clickhouse.rows<{ merges: number }>(sql`SELECT count() AS merges FROM system.merges`)
    quiet = row?.merges === 0 ? quiet + 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

/** Rollups depend on code: they are made again when the code has changed or PostgreSQL has lost them. */
async function forgetOldRollups(state: State, clickhouse: ClickHouse, postgresUrl: string): Promise<void> {
  const version = hashOf(JSON.stringify([sampleStatements(), fingerprint('migrations/clickhouse/schema.sql')]))
  const forget = async () => {
    const server = openPostgres(databaseUrl, 1)
    await server`DROP DATABASE IF EXISTS ${server(new URL(postgresUrl).pathname.slice(1))} WITH (FORCE)`
    await server.end()
    const tables = await clickhouse.rows<{ name: string }>(
      sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT IN ('events', 'titles')`,
    )
    for (const { name } of tables) await clickhouse.command(`DROP TABLE ${name} SYNC`)
    state.forget('roll up')
    return version
  }
  if ((await state.once('roll up version', forget)) !== version || !(await exists(postgresUrl))) {
    await forget()
    await state.once('roll up version', async () => version)
  }
}

/** The statements of a rollup run for any site. */
function sampleStatements(): Statement[] {
  const batch = { siteId: '', siteIds: [''], version: 1, days: [['2026-01-01', '2026-01-31']] as const }
  return [...rollupStatements(batch, { atOnce: false }), ...monthStatements(batch, [batch], { atOnce: false })].map(
    render,
  )
}

async function exists(url: string): Promise<boolean> {
  const server = openPostgres(databaseUrl, 1)
  const name = new URL(url).pathname.slice(1)
  const rows = await server`SELECT FROM pg_database WHERE datname = ${name}`
  await server.end()
  return rows.length > 0
}

/** Creates the account that owns all sites. */
async function knownSites(postgres: Postgres, zone: string, sites: readonly BenchSite[]): Promise<string> {
  const account = { id: `acct_${base32('bench')}`, name: 'Bench', plan: 'Agency' }
  await postgres`INSERT INTO accounts ${postgres(account)} ON CONFLICT DO NOTHING`
  const rows = sites.map(({ id, domain }) => ({ id, account_id: account.id, domain, time_zone: zone }))
  for (let from = 0; from < rows.length; from += 500) {
    await postgres`INSERT INTO sites ${postgres(rows.slice(from, from + 500))} ON CONFLICT DO NOTHING`
  }
  return account.id
}

const hashOf = (words: string): string => createHash('sha256').update(words).digest('hex').slice(0, 12)
