// The run in its order: make, fold, settle, ask.
import { readFileSync } from 'node:fs'
import { sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import type { Fold } from '../../src/traffic/folds.ts'
import { openByHttp } from '../api/engine-connection.ts'
import { round } from '../api/measure.ts'
import { countToday, fold, foldsOf } from './folding.ts'
import { measureInserting } from './inserting.ts'
import { geometricMean } from './judge.ts'
import { type Asked, compareWithRaw, measureLatency } from './latency.ts'
import { measureLimits } from './limits.ts'
import { filterWords, type Question, queryOf, ranges, reportNames, windows } from './questions.ts'
import type { Measured } from './result.ts'
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
  const foldedWhale = await state.once('fold whale', () => fold(world, whale))
  say(`folded the whale: ${JSON.stringify(foldedWhale)}`)
  await settle(world, patience)
  const folded = await state.once('fold bytes', () => sizeOf(world, 'short_tallies', 'long_tallies'))
  const rest = { tenth: await makeSite(world, tenth, say), hundredth: await makeSite(world, hundredth, say) }
  await makeSmallSites(world, say)
  for (const site of [tenth, hundredth]) await state.once(`fold ${site.name}`, () => fold(world, site))
  const foldedSmall = await state.once('fold small', () => fold(world))
  say(`folded the small sites: ${JSON.stringify(foldedSmall)}`)
  await settle(world, patience)

  const engine = openByHttp(world.clickhouseUrl)
  const folds = new Map<BenchSite, Fold[]>()
  const tinySite = small.find(({ events }) => events === tinyEvents)!
  for (const site of [...sizes, tinySite]) folds.set(site, await foldsOf(world, site))
  const values = await countDailyValues(world, whale, say)
  // Smaller sites are not busy: their today is read from the events.
  const { open, ...counted } = await countToday(world, whale)
  say(`counted the whale's today: ${JSON.stringify(counted)}`)
  const asked = questions(whale, [tenth, hundredth, tinySite]).map(
    (question): Asked => ({
      question,
      query: queryOf(question, world.now, folds.get(question.site) ?? [], question.site === whale ? open : undefined),
      values: question.site === whale ? values : {},
    }),
  )
  const latency = await measureLatency({ engine, asked, seconds: isShort ? 15 : 180, mostRounds: 40, say })
  const tiny = latency.cells.filter(({ site }) => site === tinySite.name)

  const patient = openByHttp(world.clickhouseUrl, { settings: { max_execution_time: 90, max_memory_usage: 0 } })
  const compared = await compareWithRaw({
    engine: patient,
    pairs: rawQuestions(sizes).map((question) => ({
      question,
      raw: queryOf(question, world.now, []),
      folded: queryOf(question, world.now, folds.get(question.site) ?? []),
    })),
    say: isShort ? () => {} : say,
  })
  await Promise.all([engine.close(), patient.close()])

  const limits = await measureLimits({ world, site: whale, folds: folds.get(whale) ?? [], seconds: isShort ? 6 : 120 })
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
      folded: folded.bytes,
      foldedRows: folded.rows,
      titles: (await sizeOf(world, 'titles')).bytes,
    },
    parts: await partsOf(world),
    folding: { whale: foldedWhale, small: foldedSmall, today: counted },
    inserting,
    ...latency,
    compared,
    tiny: {
      ratio: round(geometricMean(tiny.map(({ p10 }) => p10 / latency.floor.p10)), 2),
      foldedRows: await foldedRowsOf(world, tinySite),
      events: tinySite.events,
    },
    limits,
    throughput,
    residentMiB: residentMiB(world.engine.pid),
  }
}

async function foldedRowsOf({ clickhouse }: World, { id }: BenchSite): Promise<number> {
  const [row] = await clickhouse.rows<{ rows: number }>(
    sql`
      SELECT sum(rows) AS rows FROM (
        SELECT count() AS rows FROM short_tallies WHERE site_id = ${text(id)}
        UNION ALL SELECT count() AS rows FROM long_tallies WHERE site_id = ${text(id)}
      )`,
  )
  return row?.rows ?? 0
}

/** All of the whale; of other sizes what shows how latency grows. */
function questions(whale: BenchSite, others: readonly BenchSite[]): Question[] {
  const all: Question[] = []
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

/** Closed days alone, since only these are folded; one filter on the whale beside none. */
const rawQuestions = (sizes: readonly BenchSite[]): Question[] =>
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

/** Of the events those of the fullest month: what is read of them is a day, or two of different months. */
async function partsOf({ clickhouse }: World): Promise<Measured['parts']> {
  const [row] = await clickhouse.rows<{ events: number; short: number; long: number }>(sql`
    SELECT
      maxIf(parts, table = 'events') AS events,
      sumIf(parts, table = 'short_tallies') AS short,
      sumIf(parts, table = 'long_tallies') AS long
    FROM (
      SELECT table, count() AS parts FROM system.parts
      WHERE active AND database = currentDatabase() GROUP BY table, partition
    )`)
  return { events: 0, short: 0, long: 0, ...row, granule: { events: 8_192, folded: 2_048 } }
}

const residentMiB = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
