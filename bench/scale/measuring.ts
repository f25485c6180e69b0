// The steps of a run: generate, roll up, settle, query.
import { readFileSync } from 'node:fs'
import type { RollupVersion } from '../../src/rollups/coverage.ts'
import { sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { openByHttp } from '../api/clickhouse-connection.ts'
import { round } from '../api/measure.ts'
import { measureColumns } from './columns.ts'
import { measureInserting } from './inserting.ts'
import { geometricMean } from './judge.ts'
import { type Asked, compareWithRaw, measureLatency } from './latency.ts'
import { measureLimits } from './limits.ts'
import { type BenchQuery, filterWords, queryOf, ranges, reportNames, windows } from './queries.ts'
import type { Measured } from './result.ts'
import { countToday, coverageOf, rollUp } from './rollups.ts'
import { type BenchSite, tinyEvents } from './sites.ts'
import { measureThroughput } from './throughput.ts'
import { countDailyValues } from './values.ts'
import { makeSite, makeSmallSites, settle, type World } from './world.ts'

export interface MeasureOptions {
  isShort: boolean
  say: (text: string) => void
}

export async function measure(
  world: World,
  { isShort, say }: MeasureOptions,
): Promise<Omit<Measured, 'measuredAt' | 'machine'>> {
  const { state, sizes, small } = world
  const [whale, tenth, hundredth] = sizes
  const patience = isShort ? 10 : 90
  const counts = { whale: await makeSite(world, whale, say) }
  await settle(world, patience)
  const rawBytes = await state.once('made bytes', () => sizeOf(world, 'events'))
  const columns = await measureColumns(world, whale)
  say(`bytes of an event by column: ${JSON.stringify(columns)}`)
  const whaleRollup = await state.once('roll up whale', () => rollUp(world, whale))
  say(`rolled up the whale: ${JSON.stringify(whaleRollup)}`)
  await settle(world, patience)
  const rolledUp = await state.once('roll up bytes', () => sizeOf(world, 'short_rollups', 'long_rollups'))
  const rest = { tenth: await makeSite(world, tenth, say), hundredth: await makeSite(world, hundredth, say) }
  await makeSmallSites(world, say)
  for (const site of [tenth, hundredth]) await state.once(`roll up ${site.name}`, () => rollUp(world, site))
  const smallRollup = await state.once('roll up small', () => rollUp(world))
  say(`rolled up the small sites: ${JSON.stringify(smallRollup)}`)
  await settle(world, patience)

  const clickhouse = openByHttp(world.clickhouseUrl)
  const rollupVersions = new Map<BenchSite, readonly RollupVersion[]>()
  const tinySite = small.find(({ events }) => events === tinyEvents)!
  for (const site of [...sizes, tinySite]) rollupVersions.set(site, await coverageOf(world, site))
  const values = await countDailyValues(world, whale, say)
  // Smaller sites are not busy, so their today is read from events.
  const { today, ...counted } = await countToday(world, whale)
  say(`counted the whale's today: ${JSON.stringify(counted)}`)
  const asked = benchQueries(whale, [tenth, hundredth, tinySite]).map(
    (benchQuery): Asked => ({
      benchQuery,
      query: queryOf(
        benchQuery,
        world.now,
        rollupVersions.get(benchQuery.site) ?? [],
        benchQuery.site === whale ? today : undefined,
      ),
      values: benchQuery.site === whale ? values : {},
    }),
  )
  const latency = await measureLatency({ clickhouse, asked, seconds: isShort ? 15 : 180, maxRounds: 40, say })
  const tiny = latency.cells.filter(({ site }) => site === tinySite.name)

  const patient = openByHttp(world.clickhouseUrl, { settings: { max_execution_time: 90, max_memory_usage: 0 } })
  const compared = await compareWithRaw({
    clickhouse: patient,
    pairs: rawQueries(sizes).map((benchQuery) => ({
      benchQuery,
      raw: queryOf(benchQuery, world.now, []),
      rolledUp: queryOf(benchQuery, world.now, rollupVersions.get(benchQuery.site) ?? []),
    })),
    say: isShort ? () => {} : say,
  })
  await Promise.all([clickhouse.close(), patient.close()])

  const limits = await measureLimits({
    world,
    site: whale,
    rollupVersions: rollupVersions.get(whale) ?? [],
    seconds: isShort ? 6 : 120,
  })
  say(`the worst: ${limits.slowest} ${limits.slowestMs} ms, ${limits.largest} ${limits.memory} bytes`)
  const throughput = await measureThroughput({
    world,
    clients: 32,
    requests: isShort ? 200 : 2_000,
    rounds: isShort ? 2 : 3,
    seconds: isShort ? 1 : 4,
    say,
  })
  const inserting = await measureInserting(world, hundredth)
  return {
    sizes: {
      ...counts,
      ...rest,
      small: small.reduce((sum, { events }) => sum + events, 0),
      smallSites: small.length,
    },
    bytes: {
      raw: Math.round((rawBytes.bytes * counts.whale) / rawBytes.rows),
      rolledUp: rolledUp.bytes,
      rollupRows: rolledUp.rows,
      titles: (await sizeOf(world, 'titles')).bytes,
    },
    columns,
    parts: await partsOf(world),
    rollups: { whale: whaleRollup, small: smallRollup, today: counted },
    inserting,
    ...latency,
    compared,
    tiny: {
      ratio: round(geometricMean(tiny.map(({ p10 }) => p10 / latency.floor.p10)), 2),
      rollupRows: await rollupRowsOf(world, tinySite),
      events: tinySite.events,
    },
    limits,
    throughput,
    residentMiB: residentMiB(world.clickhouseServer.pid),
  }
}

async function rollupRowsOf({ clickhouse }: World, { id }: BenchSite): Promise<number> {
  const [row] = await clickhouse.rows<{ rows: number }>(
    sql`
      SELECT sum(rows) AS rows FROM (
        SELECT count() AS rows FROM short_rollups WHERE site_id = ${text(id)}
        UNION ALL SELECT count() AS rows FROM long_rollups WHERE site_id = ${text(id)}
      )`,
  )
  return row?.rows ?? 0
}

/** All queries for the whale; for other sizes those that show how latency grows. */
function benchQueries(whale: BenchSite, others: readonly BenchSite[]): BenchQuery[] {
  const all: BenchQuery[] = []
  for (const report of reportNames) {
    for (const range of ranges) {
      for (const window of windows) {
        for (const filter of filterWords) all.push({ site: whale, report, range, window, filter })
        if (range === '7d' || range === '90d') continue
        for (const site of others) all.push({ site, report, range, window, filter: 'none' })
      }
    }
  }
  return all
}

/** Only closed days, because only these are rolled up; without a filter, and on the whale with one. */
const rawQueries = (sizes: readonly BenchSite[]): BenchQuery[] =>
  sizes.flatMap((site) =>
    (['30d', '12m'] as const).flatMap((range) =>
      (site.name === 'whale' ? (['none', 'country'] as const) : (['none'] as const)).flatMap((filter) =>
        reportNames.map((report) => ({ site, report, range, window: 'yesterday' as const, filter })),
      ),
    ),
  )

async function sizeOf({ clickhouse }: World, ...tables: string[]): Promise<{ bytes: number; rows: number }> {
  const [row] = await clickhouse.rows<{ bytes: number; rows: number }>(sql`
    SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows
    FROM system.parts WHERE active AND database = currentDatabase() AND table IN ${texts(tables)}`)
  return row ?? { bytes: 0, rows: 0 }
}

/** For events the parts of the fullest month: queries read one day of them, or two in different months. */
async function partsOf({ clickhouse }: World): Promise<Measured['parts']> {
  const [row] = await clickhouse.rows<{ events: number; short: number; long: number }>(sql`
    SELECT
      maxIf(parts, table = 'events') AS events,
      sumIf(parts, table = 'short_rollups') AS short,
      sumIf(parts, table = 'long_rollups') AS long
    FROM (
      SELECT table, count() AS parts FROM system.parts
      WHERE active AND database = currentDatabase() GROUP BY table, partition
    )`)
  return { events: 0, short: 0, long: 0, ...row, granule: { events: 8_192, rolledUp: 2_048 } }
}

const residentMiB = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
