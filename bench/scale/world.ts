// The installation that is measured: one ClickHouse with a whale, the same site at a tenth and a hundredth of its traffic, and many
// small sites, all in the same tables; and a PostgreSQL database of its own. Made once, kept in the cache folder.
import { createHash } from 'node:crypto'
import { type ClickHouseServer, startClickHouse } from '../../dev/clickhouse/server.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { foldMonths, foldStatements } from '../../src/folding/statements.ts'
import { type ClickHouse, createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { render, type Sql, type Statement, sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { createPostgresDatabase, openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { databaseUrl, keySecrets } from '../../test/support/stores.ts'
import { type BenchSite, base32, kinds, siteOf, smallSites, whaleShape } from './sites.ts'
import { fingerprint, openState, type State } from './state.ts'

export interface World {
  state: State
  now: Temporal.ZonedDateTime
  engine: ClickHouseServer
  clickhouse: ClickHouse
  clickhouseUrl: string
  postgres: Postgres
  postgresUrl: string
  accountId: string
  /** The whale, a tenth and a hundredth of it. */
  sizes: readonly [BenchSite, BenchSite, BenchSite]
  /** The most asked first. */
  small: readonly BenchSite[]
  /** For child processes: where the stores are, and that now is when the traffic ends. */
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
  // The name changes with whatever makes the traffic, so that old traffic is never taken for new.
  const made = fingerprint('src/demo/*.ts', 'migrations/clickhouse/0001_events.sql', 'bench/scale/sites.ts')
  const state = openState(`scale-${events}-${sites}-${made}`, fresh)
  const engine = await startClickHouse({ folder: state.folder })
  const clickhouseUrl = `${engine.url}/footfall`
  const postgresUrl = Object.assign(new URL(databaseUrl), { pathname: `/footfall_bench_${hashOf(state.folder)}` }).href
  await createClickHouseDatabase(clickhouseUrl)
  const clickhouse = openClickHouse(clickhouseUrl)
  await forgetOldFolds(state, clickhouse, postgresUrl)
  await createPostgresDatabase(postgresUrl)
  const postgres = openPostgres(postgresUrl, 4)
  await migrate({ postgres, clickhouse })

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
    engine,
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
      await engine.stop()
      say('stopped; what was made stays for the next run')
    },
  }
}

/** Returns how many events it has. */
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

/** The first of each kind is made, the others are copies of it under their own ids: making each would take minutes. */
export async function makeSmallSites(world: World, say: (text: string) => void): Promise<void> {
  for (const kind of kinds) {
    const [first, ...others] = world.small.filter(({ events }) => events === kind.events) as [BenchSite, ...BenchSite[]]
    await makeSite(world, first, say)
    await world.state.once(`copied ${first.name}`, () => copy(world, first, others))
    say(`${others.length + 1} sites of ${kind.events.toLocaleString('en')} events`)
  }
}

/** Returns how many events the copies have together. */
async function copy({ clickhouse }: World, from: BenchSite, to: readonly BenchSite[]): Promise<number> {
  if (to.length === 0) return 0
  const ids = texts(to.map(({ id }) => id))
  for (const table of [sql`events`, sql`titles`]) {
    await clear(clickhouse, table, to)
    // Selected first: beside the new site_id, a condition on site_id would mean the new one.
    const original = sql`(SELECT * FROM ${table} WHERE site_id = ${text(from.id)})`
    await clickhouse.run(
      sql`INSERT INTO ${table} SELECT * REPLACE (arrayJoin(${ids}) AS site_id) FROM ${original}`,
      { insert_deduplicate: 0 }, // the copies of an interrupted run, which were cleared, are no reason to write none
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

/** What an interrupted run has left. */
async function clear(clickhouse: ClickHouse, table: Sql, sites: readonly BenchSite[]): Promise<void> {
  const theirs = sql`site_id IN ${texts(sites.map(({ id }) => id))}`
  const [row] = await clickhouse.rows<{ left: number }>(sql`SELECT count() AS left FROM ${table} WHERE ${theirs}`)
  if (row?.left) await clickhouse.run(sql`DELETE FROM ${table} WHERE ${theirs}`)
}

/** Waits until nothing is merged any more, or for as long as given: figures of a table at rest, as most tables are. */
export async function settle({ clickhouse }: World, mostSeconds: number): Promise<void> {
  const until = Date.now() + mostSeconds * 1_000
  for (let quiet = 0; quiet < 3 && Date.now() < until; ) {
    const [row] = await clickhouse.rows<{ merges: number }>(sql`SELECT count() AS merges FROM system.merges`)
    quiet = row?.merges === 0 ? quiet + 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

/** Folds are made by code: when that has changed, or PostgreSQL has forgotten them, they are made anew. */
async function forgetOldFolds(state: State, clickhouse: ClickHouse, postgresUrl: string): Promise<void> {
  const version = hashOf(JSON.stringify([sampleStatements(), fingerprint('migrations/clickhouse/*_tallies.sql')]))
  const forget = async () => {
    const server = openPostgres(databaseUrl, 1)
    await server`DROP DATABASE IF EXISTS ${server(new URL(postgresUrl).pathname.slice(1))} WITH (FORCE)`
    await server.end()
    const tables = await clickhouse.rows<{ name: string }>(
      sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT IN ('events', 'titles')`,
    )
    for (const { name } of tables) await clickhouse.command(`DROP TABLE ${name} SYNC`)
    state.forget('fold')
    return version
  }
  if ((await state.once('fold version', forget)) !== version || !(await exists(postgresUrl))) {
    await forget()
    await state.once('fold version', async () => version)
  }
}

/** What folding writes, of a site that does not matter. */
function sampleStatements(): Statement[] {
  const batch = { siteId: '', version: 1, days: [['2026-01-01', '2026-01-31']] as const }
  return [...foldStatements(batch, { atOnce: false }), ...foldMonths(batch, [batch], { atOnce: false })].map(render)
}

async function exists(url: string): Promise<boolean> {
  const server = openPostgres(databaseUrl, 1)
  const name = new URL(url).pathname.slice(1)
  const rows = await server`SELECT FROM pg_database WHERE datname = ${name}`
  await server.end()
  return rows.length > 0
}

/** The account that owns them all. */
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
