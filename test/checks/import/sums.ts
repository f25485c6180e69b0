// Imports files of daily sums, and compares every number that the API answers with sums over the rows that the files were made of.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { countryNames } from '../../../src/traffic/country.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { inherited } from '../../support/inherited.ts'
import { type Installation, install } from '../../support/installation.ts'
import { seeded } from '../../support/random.ts'
import type { Check } from '../runner.ts'
import type { Counted, SumProduct, Sums } from './sum-products.ts'
import { domain } from './traffic.ts'

interface Asked {
  folder: string
  rows: number
  kills: number
}

const period = { range: 'custom', start: '2025-03-01', end: '2025-06-30' }
const days = Array.from({ length: 122 }, (_, nth) => new Date(Date.UTC(2025, 2, 1 + nth)).toISOString().slice(0, 10))
const main = new URL('../../../src/cli/main.ts', import.meta.url).pathname

export async function importSums(check: Check, product: SumProduct, { folder, rows, kills }: Asked) {
  const { kind } = product
  const random = seeded(`${check.seed} ${kind}`)
  const { files, counted, lines, leftOut } = product.write(random, rows, days)
  const paths = files.map(({ name, content }) => {
    const path = join(folder, `${kind}-${name}`)
    writeFileSync(path, content)
    return path
  })
  const installation = await install()
  check.onEnd(installation.remove)
  await installation.json('site', 'create', domain)
  const { key } = await installation.json('key', 'create', domain)
  const api = await startApiProcess(installation.addresses)
  check.onEnd(api.stop)
  const get = async (path: string, parameters: Record<string, string> = {}): Promise<unknown> => {
    const address = `${api.url}/api${path}?${new URLSearchParams({ ...period, ...parameters })}`
    const response = await fetch(address, { headers: { Authorization: `Bearer ${key}` } })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { data: unknown }).data
  }
  const compare = async (when: string, some: readonly Counted[]) => {
    for (const [name, found, expected] of await answers(get, some))
      same(check, `${kind} ${when}: ${name}`, found, expected)
  }

  const preview = await installation.json('import', domain, ...paths, '--preview')
  same(check, `${kind}: the preview`, [preview.kind, preview.lines, preview.leftOut], [kind, lines, leftOut])
  await compare('before the import', [])
  const began = performance.now()
  const { id } = await installation.json('import', domain, ...paths)
  const linesPerSecond = Math.round(lines / ((performance.now() - began) / 1_000))
  check.say(`${kind}: ${lines} lines, ${linesPerSecond} a second`)
  await compare('after the import', counted)
  same(check, `${kind}: imported again`, (await installation.json('import', domain, ...paths)).imported, 'was')
  await compare('imported again', counted)
  await installation.json('import', 'undo', domain, id)
  await compare('after the undo', [])
  let killed = 0
  for (let nth = 0; nth < kills; nth++) {
    const child = startImport(installation, paths)
    const ended = once(child, 'exit')
    await pause(400 + random.below(3_000))
    if (child.exitCode === null) killed++
    child.kill('SIGKILL')
    await ended
    const finished = (await installation.json('import', 'list', domain)) as unknown as { id: string; state: string }[]
    const [last] = finished
    // Nothing of an import is to be seen before all of it is.
    await compare(`after ${nth + 1} kills`, last?.state === 'finished' ? counted : [])
    if (last?.state === 'finished') await installation.json('import', 'undo', domain, last.id)
  }
  await installation.json('import', domain, ...paths)
  await compare(`imported after ${killed} kills`, counted)
  await api.stop()
  return { lines, leftOut, linesPerSecond, killed }
}

const startImport = (installation: Installation, paths: readonly string[]): ChildProcess =>
  spawn(process.execPath, [main, 'import', domain, ...paths], {
    env: { ...inherited, ...installation.environment },
    stdio: 'ignore',
  })

type Get = (path: string, parameters?: Record<string, string>) => Promise<unknown>

/** What is asked, what the API answers, and what it should. */
async function answers(get: Get, counted: readonly Counted[]): Promise<[string, unknown, unknown][]> {
  const of = (list: string) => counted.filter((one) => one.list === list)
  const total = added(of('total'))
  const compared: [string, unknown, unknown][] = []
  const overview = (await get('/v1/stats/overview')) as { current: unknown }
  compared.push(['overview', overview.current, overviewOf(total)])
  const byDay = Map.groupBy(of('total'), ({ day }) => day)
  compared.push([
    'timeseries',
    await get('/v1/stats/timeseries'),
    days.map((date) => {
      const [visitors, pageviews] = added(byDay.get(date) ?? [])
      return { date, visitors, pageviews }
    }),
  ])
  // Ties go by the label.
  const listed = (
    list: string,
    names: (value: string, sums: Sums) => Record<string, string | number>,
    order: readonly number[],
  ) =>
    Array.from(
      Map.groupBy(of(list), ({ value }) => value),
      ([value, some]) => ({ value, sums: added(some) }),
    )
      .filter(({ value, sums }) => value !== '' && sums[0] > 0)
      .sort(
        (one, other) =>
          order.map((nth) => (other.sums[nth] as number) - (one.sums[nth] as number)).find((by) => by !== 0) ??
          Buffer.compare(Buffer.from(one.value), Buffer.from(other.value)),
      )
      .slice(0, 100)
      .map(({ value, sums }) => names(value, sums))
  const reports: Record<string, unknown> = {
    pages: listed('page', (pathname, [visitors, views]) => ({ pathname, title: '', views, visitors }), [1, 0]),
    referrers: listed('referrer', (referrer, [visitors, views]) => ({ referrer, views, visitors }), [1, 0]),
    events: listed('event', (name, [visitors, , , , , count]) => ({ name, count, visitors }), [5, 0]),
    devices: listed(
      'device',
      (name, [visitors]) => ({ name: `${name[0]?.toUpperCase()}${name.slice(1)}`, visitors }),
      [0],
    ),
    geo: listed('country', (code, [visitors]) => ({ name: countryNames[code as 'DE'], visitors }), [0]),
    utm: listed('utm_source', (name, [visitors]) => ({ name, visitors }), [0]),
    channels: listed(
      'channel',
      (channel, [visitors]) => ({ channel, visitors, percentage: Math.round((100 * visitors) / total[0]) }),
      [0],
    ),
  }
  for (const [report, expected] of Object.entries(reports))
    compared.push([report, await get(`/v1/stats/${report}`, { limit: '100' }), expected])
  for (const list of ['browser', 'os', 'entry_page', 'exit_page', 'utm_campaign', 'utm_term', 'page', 'device']) {
    if (of(list).length === 0) continue
    const rows = (await get('/v2/stats/breakdown', {
      by: list,
      metrics: 'visitors,pageviews',
      limit: '1000',
    })) as Record<string, string | number | null>[]
    const expected = Array.from(
      Map.groupBy(of(list), ({ value }) => value),
      ([value, some]) => [value, ...added(some).slice(0, 2)],
    )
    compared.push([
      `by ${list}`,
      rows.map((row) => [row[list] ?? '', row.visitors, row.pageviews]).sort(byText),
      expected.filter((row) => (row[1] as number) > 0).sort(byText),
    ])
  }
  return compared
}

const byText = (one: unknown, other: unknown): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)

const added = (some: readonly Counted[]): Sums =>
  some.reduce<number[]>(
    (sum, { sums }) => sum.map((one, nth) => one + (sums[nth] as number)),
    [0, 0, 0, 0, 0, 0],
  ) as unknown as Sums

const overviewOf = ([visitors, pageviews, sessions, bounces, seconds]: Sums) => ({
  visitors,
  pageviews,
  sessions,
  bounce_rate: sessions === 0 ? 0 : Math.floor((200 * bounces + sessions) / (2 * sessions)),
  avg_duration: sessions === 0 ? 0 : Math.floor((2 * seconds + sessions) / (2 * sessions)),
})

function same(check: Check, kind: string, found: unknown, expected: unknown): void {
  const [one, other] = [found, expected].map((value) => JSON.stringify(sorted(value)))
  if (one !== other) check.fault(kind, `found ${one?.slice(0, 2_000)}`, `expected ${other?.slice(0, 2_000)}`)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
