// Files of other products, in their real shapes, are imported, and every number that the API answers is compared with sums over the visits that
// the files were made from. Imports are killed, undone under traffic, and done again; speed and memory are measured.
//   npm run check:import
//   npm run check:import -- --rows 4000 --kills 1 --megabytes 20      the short form
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { invalidateDays } from '../../../src/rollups/invalidation.ts'
import { openClickHouse } from '../../../src/stores/clickhouse.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { inherited } from '../../support/inherited.ts'
import { type Installation, install } from '../../support/installation.ts'
import { type Random, seeded } from '../../support/random.ts'
import { answer, reports } from '../oracle/model.ts'
import { type Check, runCheck } from '../runner.ts'
import { type Dialect, dialects, umami } from './dialects.ts'
import { ga4, plausible } from './sum-products.ts'
import { importSums } from './sums.ts'
import { domain, eventsOf, makeHits } from './traffic.ts'

const zones = ['America/New_York', 'Pacific/Auckland', 'Europe/Berlin', 'UTC']
/** 17 March 2025: the days of most zones change their length in the half year after it. */
const from = Date.UTC(2025, 2, 17)
const days = { start: '2025-03-16', end: '2026-02-28' }
const minLinesPerSecond = 20_000
const maxMegabytes = 500
const main = new URL('../../../src/cli/main.ts', import.meta.url).pathname

const dimensions: Record<string, (event: TrafficEvent) => string> = {
  browser: ({ browser }) => browser ?? '',
  os: ({ os }) => os ?? '',
  utm_campaign: ({ campaign }) => campaign?.campaign ?? '',
  utm_term: ({ campaign }) => campaign?.term ?? '',
}

await runCheck(
  {
    name: 'import',
    options: { rows: 200_000, kills: 20, megabytes: 200 },
    mayBeZero: ['kills', 'megabytes'],
    seconds: ({ rows, kills, megabytes }) => 300 + rows * 0.006 + (dialects.length + 2) * kills * 20 + megabytes * 2,
  },
  async (check, { rows, kills, megabytes }) => {
    const folder = mkdtempSync(join(tmpdir(), 'footfall-check-import-'))
    check.onEnd(() => rmSync(folder, { recursive: true }))
    const products: Record<string, unknown> = {}
    for (const [nth, dialect] of dialects.entries())
      products[dialect.kind] = await importProduct(check, dialect, { folder, rows, kills, zone: zones[nth] as string })
    for (const product of [plausible, ga4])
      products[product.kind] = await importSums(check, product, { folder, rows, kills })
    return { rows, products, memory: megabytes > 0 ? await measureMemory(check, folder, megabytes) : undefined }
  },
)

interface Asked {
  folder: string
  rows: number
  kills: number
  zone: string
}

async function importProduct(check: Check, dialect: Dialect, { folder, rows, kills, zone }: Asked) {
  const { kind } = dialect
  const random = seeded(`${check.seed} ${kind}`)
  const hits = makeHits(random, rows, from).map(dialect.kept)
  const { files, leftOut } = dialect.write(hits, random)
  const paths = files.map(({ name, content }) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  })
  const installation = await install()
  check.onEnd(installation.remove)
  const { id } = await installation.json('site', 'create', domain, '--timezone', zone)
  const events = eventsOf(hits, id, zone, dialect.visitorOf)
  const site = await openSite(check, installation, { id, zone, kind })

  const preview = await installation.json('import', domain, ...paths, '--preview')
  if (preview.kind !== kind) check.fault('recognised', `${kind} was taken for ${preview.kind}`)
  same(check, `${kind}: what is left out`, preview.leftOut, leftOut)
  same(check, `${kind}: events of the preview`, preview.events, hits.length)
  await site.compare('before the import', [])

  const began = performance.now()
  const outcome = await installation.json('import', domain, ...paths)
  const linesPerSecond = Math.round(hits.length / ((performance.now() - began) / 1_000))
  check.say(`${kind}: ${hits.length} lines, ${linesPerSecond} a second`)
  // The command's own start takes half a second, so a short file says nothing.
  if (rows >= 100_000 && linesPerSecond < minLinesPerSecond)
    check.slow('speed', `${kind}: ${linesPerSecond} lines a second`)
  await site.compare('after the import', events)
  const again = await installation.json('import', domain, ...paths.toReversed())
  same(check, `${kind}: imported again`, again.imported, 'was')
  const part = await installation.footfall('import', domain, paths[0] as string)
  if (paths.length > 1) same(check, `${kind}: a file of the import alone`, /is in the import/.test(part.stderr), true)
  await installation.json('rollup', 'run', '--site', domain)
  await site.compare('rolled up', events)

  const live = await undoUnderTraffic(installation, { id, zone, random, importId: outcome.id })
  await site.compare('after the undo', live)
  // The file now ends before the first day of the tracker, which was chosen to be after it.
  await installation.json('import', domain, ...paths)
  await site.compare('imported again after the undo', [...live, ...events])
  await installation.json('import', 'undo', domain, (await importsOf(installation))[0].id)
  let killed = 0
  for (let nth = 0; nth < kills; nth++) killed += Number(await killOnce(installation, paths, random))
  await installation.json('import', domain, ...paths)
  await site.compare(`after ${killed} kills`, [...live, ...events])
  await site.close()
  return { events: hits.length, leftOut, linesPerSecond, killed }
}

function importsOf(installation: Installation) {
  return installation.json('import', 'list', domain)
}

function same(check: Check, kind: string, found: unknown, expected: unknown): void {
  const [one, other] = [found, expected].map((value) => JSON.stringify(sorted(value)))
  if (one !== other) check.fault(kind, `found ${one}`, `expected ${other}`)
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Compares what the API answers with the model. */
async function openSite(
  check: Check,
  installation: Installation,
  { id, zone, kind }: { id: string; zone: string; kind: string },
) {
  const { key } = await installation.json('key', 'create', domain)
  const api = await startApiProcess(installation.addresses)
  check.onEnd(api.stop)
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${api.url}${path}`, { headers: { Authorization: `Bearer ${key}` } })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { data: unknown }).data
  }
  const params = Object.entries({ range: 'custom', ...days, limit: '100' })
  const query = new URLSearchParams(params).toString()
  return {
    close: api.stop,
    async compare(when: string, events: readonly TrafficEvent[]) {
      for (const report of reports) {
        const model = answer({ siteId: id, zone, excludedCountries: [], events }, report, params, Date.now())
        const expected = model.status === 200 ? JSON.parse(model.body).data : model
        same(check, `${kind} ${when}: ${report}`, await get(`/api/v1/stats/${report}?${query}`), expected)
      }
      for (const [by, labelOf] of Object.entries(dimensions)) {
        const rows = (await get(`/api/v2/stats/breakdown?by=${by}&metrics=visitors,pageviews&${query}`)) as Record<
          string,
          string
        >[]
        const found = Object.fromEntries(
          rows.filter((row) => row[by] !== null).map((row) => [row[by], [row.visitors, row.pageviews]]),
        )
        const groups = Map.groupBy(events, labelOf)
        groups.delete('')
        const expected = Object.fromEntries(
          Array.from(groups, ([value, some]) => [
            value,
            [new Set(some.map((one) => one.visitorId)).size, some.filter(({ name }) => name === pageview).length],
          ]),
        )
        same(check, `${kind} ${when}: ${by}`, found, expected)
      }
    },
  }
}

interface Undone {
  id: string
  zone: string
  random: Random
  importId: string
}

/** Events arrive while the import is undone. They are of days after it. Returns them. */
async function undoUnderTraffic(
  installation: Installation,
  { id, zone, random, importId }: Undone,
): Promise<TrafficEvent[]> {
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  const postgres = openPostgres(installation.addresses.postgres, 1)
  try {
    const hits = makeHits(random, 2_000, Date.UTC(2025, 9, 20)).filter(({ time }) => time < Date.UTC(2026, 1, 1))
    const live = eventsOf(hits, id, zone, ({ visitor }) => visitor).map((event) => ({
      ...event,
      visitorId: `${1_000_000 + Number(BigInt.asUintN(32, hashOf(event.visitorId)))}`,
      eventId: random.uuid(),
    }))
    const undoing = installation.json('import', 'undo', domain, importId)
    for (let at = 0; at < live.length; at += 100)
      await recordBatch(clickhouse, { id: random.uuid(), events: live.slice(at, at + 100) })
    await invalidateDays(postgres, live)
    await undoing
    const [left] = await clickhouse.rows<{ events: string }>(
      sql`SELECT toString(countIf(import_id != 0)) AS events FROM events WHERE site_id = ${text(id)}`,
    )
    if (left?.events !== '0') throw new Error(`${left?.events} events are left of the import that was undone`)
    return live
  } finally {
    await clickhouse.close()
    await postgres.end()
  }
}

/** A number for a text, so that the same visitor has the same one. */
function hashOf(value: string): bigint {
  let hash = 7n
  for (const character of value)
    hash = (hash * 1_000_003n + BigInt(character.codePointAt(0) as number)) % 4_294_967_291n
  return hash
}

/** Starts the import, and kills it after a moment. Returns whether it was still running. */
async function killOnce(installation: Installation, paths: readonly string[], random: Random): Promise<boolean> {
  const child = startImport(installation, paths)
  const ended = once(child, 'exit')
  await pause(400 + random.below(3_000))
  const isRunning = child.exitCode === null
  child.kill('SIGKILL')
  await ended
  return isRunning
}

function startImport(installation: Installation, paths: readonly string[]): ChildProcess {
  return spawn(process.execPath, [main, 'import', domain, ...paths], {
    env: { ...inherited, ...installation.environment },
    stdio: 'ignore',
  })
}

/** A large file in no order, of lines that differ. */
async function measureMemory(check: Check, folder: string, megabytes: number) {
  const random = seeded(`${check.seed} memory`)
  const path = join(folder, 'large.csv')
  const stream = createWriteStream(path)
  const ended = once(stream, 'finish')
  const some = makeHits(random, 20_000, from)
  let lines = 0
  for (let round = 0; stream.bytesWritten < megabytes * 1e6; round++) {
    const shifted = some.map((hit) => ({ ...hit, visitor: `${hit.visitor} ${round}`, time: hit.time + round * 1_000 }))
    const content = umami.write(shifted, random).files[0]?.content as Buffer
    const body = round === 0 ? content : content.subarray(content.indexOf('\n') + 1)
    if (!stream.write(body)) await once(stream, 'drain')
    lines += some.length
  }
  stream.end()
  await ended
  const installation = await install()
  check.onEnd(installation.remove)
  await installation.json('site', 'create', domain)
  const began = performance.now()
  const child = startImport(installation, [path])
  let peak = 0
  while (child.exitCode === null && child.signalCode === null) {
    peak = Math.max(peak, peakOf(child.pid as number))
    await pause(100)
  }
  const linesPerSecond = Math.round(lines / ((performance.now() - began) / 1_000))
  if (child.exitCode !== 0) check.fault('memory', `the import ended with ${child.exitCode ?? child.signalCode}`)
  const peakMegabytes = Math.round(peak / 1_024)
  check.say(
    `${Math.round(statSync(path).size / 1e6)} MB: ${peakMegabytes} MB of memory, ${linesPerSecond} lines a second`,
  )
  if (peakMegabytes > maxMegabytes) check.fault('memory', `${peakMegabytes} MB for a file of ${megabytes} MB`)
  return { megabytes, lines, peakMegabytes, linesPerSecond }
}

/** The most memory that a process has had so far, in kB. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
