// Tests the promises of CONTRIBUTING.md in a copy of the working tree: `npm run dev` runs everything and follows the source, and the report
// of "Add a report" is one file and its lines in the table, the dimension of "Add a dimension" one entry.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { clickhouseMissing, freePort } from '../../dev/clickhouse/server.ts'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { type LaunchedProcess, launchProcess } from '../support/process.ts'
import { createEmptyStores } from '../support/stores.ts'
import { copyWorkingTree } from '../support/working-copy.ts'

/** On an idle machine a start takes 7 s and a restart 3 s. */
const maxStartMs = 90_000
const maxRestartMs = 30_000

const folder = mkdtempSync(join(tmpdir(), 'footfall-tutorial-'))
const copy = join(folder, 'footfall')
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const ended: (() => Promise<unknown>)[] = []
let dev: LaunchedProcess
let key: string

before(async () => {
  copyWorkingTree(copy)
  const port = await freePort()
  dev = launchProcess({
    name: 'npm run dev',
    command: [process.execPath, join(copy, 'dev/dev.ts'), '--port', `${port}`, '--events', '10000'],
    environment: await databases(),
    port,
    maxStopMs: 20_000,
  })
  const welcome = await eventually(async () => {
    assert.ok(dev.isRunning(), dev.log())
    const [line] = /curl -H "Authorization: Bearer \S+" "[^"]+"/.exec(dev.log()) ?? []
    assert.ok(line, dev.log())
    return line
  }, maxStartMs)
  key = /Bearer ([^"]+)/.exec(welcome)?.[1] as string
})

after(async () => {
  const code = await dev?.stop()
  for (const end of ended) await end()
  rmSync(folder, { recursive: true, force: true })
  assert.equal(code, 0, 'npm run dev exits cleanly')
})

/** Databases from npm, as a newcomer has on Linux, or otherwise those of the tests. */
async function databases(): Promise<Record<string, string>> {
  if (!clickhouseMissing()) return {}
  const { stores, remove } = await createEmptyStores()
  ended.push(remove)
  return { CLICKHOUSE_URL: stores.addresses.clickhouse, DATABASE_URL: stores.addresses.postgres }
}

const get = (path: string) => fetch(`${dev.url}/api/v1${path}`, { headers: { Authorization: `Bearer ${key}` } })

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
async function data(path: string): Promise<any> {
  const answer = await get(path)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return JSON.parse(text).data
}

const run = (...command: string[]) =>
  execFileSync(command[0] as string, command.slice(1), { cwd: copy, encoding: 'utf8', stdio: 'pipe' })

test('npm run dev serves its demo site and the tracker, and counts events sent to the collector', async () => {
  const { current } = await data('/stats/overview?range=30d')
  assert.ok(current.visitors > 0)
  assert.match(await (await fetch(`${dev.url}/js/footfall.js`)).text(), /footfall/)
  const sent = await fetch(`${dev.url}/api/event`, {
    method: 'POST',
    headers: { 'User-Agent': browser, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Tutorial', url: 'https://demo.example/', domain: 'demo.example' }),
  })
  assert.deepEqual(await sent.json(), { accepted: 1 })
  await eventually(async () => {
    const events = await data('/stats/events?range=24h&limit=100')
    assert.deepEqual(
      events.filter(({ name }: { name: string }) => name === 'Tutorial'),
      [{ name: 'Tutorial', count: 1, visitors: 1 }],
    )
  }, maxRestartMs)
})

test('the patch of "Add a report" is one file and two lines, and a change of the source restarts npm run dev', async () => {
  assert.equal((await get('/stats/weekdays')).status, 404)
  const patch = join(copy, 'docs/tutorial/weekdays.patch')
  const sizes = run('git', 'apply', '--numstat', patch).trim().split('\n')
  assert.equal(sizes.length, 2)
  assert.match(sizes[0] ?? '', /^2\t0\tsrc\/stats\/reports\.ts$/, 'its import, and its line in the table')
  assert.match(sizes[1] ?? '', /^\d+\t0\tsrc\/stats\/reports\/weekdays\.ts$/)
  const began = performance.now()
  run('git', 'apply', patch)
  await eventually(async () => assert.equal((await get('/stats/weekdays')).status, 200), maxRestartMs)
  inTime(performance.now() - began < maxRestartMs, `not within ${maxRestartMs} ms`)
  assert.match(dev.log(), /src\/stats\/reports\S* has changed: starting again …/)
})

test('the new report returns the numbers of the days', async () => {
  const expected = new Map<string, { visitors: number; pageviews: number }>()
  // Whole weeks that have ended: both responses cover the same days, at any time.
  const last = Temporal.Now.plainDateISO('Europe/Berlin').subtract({ days: 2 })
  const range = `range=custom&start=${last.subtract({ days: 27 })}&end=${last}`
  for (const { date, visitors, pageviews } of await data(`/stats/timeseries?${range}`)) {
    const weekday = new Date(`${date}T00:00:00Z`).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })
    const so = expected.get(weekday) ?? { visitors: 0, pageviews: 0 }
    expected.set(weekday, { visitors: so.visitors + visitors, pageviews: so.pageviews + pageviews })
  }
  const weekdays = await data(`/stats/weekdays?${range}`)
  assert.equal(weekdays.length, 7)
  assert.equal(weekdays[0].weekday, 'Monday')
  for (const { weekday, ...counts } of weekdays) assert.deepEqual(counts, expected.get(weekday), weekday)
})

test('the report passes the house rules, and OpenAPI, the reference page and the documents include it', async () => {
  run(process.execPath, 'node_modules/typescript/bin/tsc', '--noEmit')
  run(process.execPath, '--test', 'test/house/statements.test.ts')
  run(process.execPath, 'dev/docs/write.ts')
  const path = '/stats/weekdays'
  const page = readFileSync(join(copy, 'docs/api.md'), 'utf8')
  const [, section = ''] = page.split(`### GET /api/v1${path}\n`)
  assert.match(section, /^\nVisitors and pageviews by day of the week\.\n/)
  assert.match(section, /\| `weekday` \|/)
  assert.match(section, /"weekday": "Monday"/)
  const client = (file: string) => readFileSync(join(copy, 'packages/client', file), 'utf8')
  assert.match(client('index.js'), /^export const weekdays = /m)
  assert.match(client('index.d.ts'), /^export interface WeekdaysRow \{\n.*\n +weekday: 'Monday' \| /m)
  // The example is a file of src, so npm run dev has restarted.
  await eventually(async () => {
    const { paths } = (await (await fetch(`${dev.url}/api/v1/openapi.json`)).json()) as {
      paths: Record<string, object>
    }
    assert.match(JSON.stringify(paths[path] ?? {}), /"weekday":"Monday"/)
    const html = await (await fetch(`${dev.url}/api/v1/docs`)).text()
    assert.match(html, /<section id="weekdays">/)
    assert.match(html.replace(/<[^>]*>/g, ''), /&#34;weekday&#34;: &#34;Monday&#34;/)
  }, maxRestartMs)
})

test('the patch of "Add a dimension" is one entry, and its rows add up to the days', async () => {
  const patch = join(copy, 'docs/tutorial/weekday-dimension.patch')
  assert.match(run('git', 'apply', '--numstat', patch), /^\d\t0\tsrc\/stats\/questions\/dimensions\.ts\n$/)
  run('git', 'apply', patch)
  const last = Temporal.Now.plainDateISO('Europe/Berlin').subtract({ days: 2 })
  const range = `range=custom&start=${last.subtract({ days: 27 })}&end=${last}`
  const ask = async (query: string) => {
    const headers = { Authorization: `Bearer ${key}` }
    const answer = await fetch(`${dev.url}/api/v2/stats/${query}`, { headers })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text).data
  }
  const expected = new Map<string, number>()
  for (const { date, visitors } of await data(`/stats/timeseries?${range}`)) {
    const weekday = new Date(`${date}T00:00:00Z`).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })
    expected.set(weekday, (expected.get(weekday) ?? 0) + visitors)
  }
  await eventually(async () => {
    const rows = await ask(`breakdown?by=weekday&${range}`)
    assert.deepEqual(
      new Map(rows.map((row: { weekday: string; visitors: number }) => [row.weekday, row.visitors])),
      expected,
    )
  }, maxRestartMs)
  const { visitors } = await ask(`totals?metrics=visitors&filter=weekday:is:Monday,Sunday&${range}`)
  assert.equal(visitors, (expected.get('Monday') ?? 0) + (expected.get('Sunday') ?? 0))
  run(process.execPath, 'dev/docs/write.ts')
  assert.match(readFileSync(join(copy, 'docs/openapi-v2.json'), 'utf8'), /"weekday"/)
})
