// `npm run check:readme`: runs the README's commands word for word in a fresh clone of the committed state, as a new user would, and compares
// the responses with the independent model. Also tries the documented failures. Prints the seconds of each part.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClickHouse } from '../../../dev/clickhouse/server.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { databaseUrl } from '../../support/stores.ts'
import { answer, reports as modelled, type Report } from '../oracle/model.ts'
import { type Check, pause, runCheck } from '../runner.ts'
import { walkWhileServing, walkWhileTried } from './failures.ts'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const folder = join(tmpdir(), `footfall-readme-${process.pid}`)
const clone = join(folder, 'footfall')
const partSeconds: Record<string, number> = {}
let compared = 0
let walked = 0

await runCheck({ name: 'readme', options: {}, seconds: () => 900 }, async (check) => {
  check.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync('git', ['clone', '--quiet', new URL('../../..', import.meta.url).pathname, clone])
  await tryIt(check)
  await installIt(check)
  if (compared !== 10 || walked !== 16) check.fault('coverage', `${compared} answers, ${walked} failures`)
  return { partSeconds, answers: compared, failures: walked }
})

/** The first minute: until the ninth response is checked. */
async function tryIt(check: Check): Promise<void> {
  const began = performance.now()
  writeFileSync(join(clone, '.env'), 'RETENTION_MONTHS=of another installation\n') // neither it nor its shipper may read this
  const { child, output } = await start(check, 'dash', block('try'), /Ctrl-C ends it/)
  assert.doesNotMatch(output, /RETENTION_MONTHS|shipper/)
  rmSync(join(clone, '.env'))
  const key = /export KEY=(\S+)/.exec(output)?.[1] as string
  const calls = output.split('\n').filter((line) => modelled.some((name) => line.includes(`/stats/${name}?`)))
  assert.equal(calls.length, 9)
  const config = readFileSync(join(clone, '.footfall/try/clickhouse/config.xml'), 'utf8')
  const events = await eventsOf(Number(/<http_port>(\d+)</.exec(config)?.[1]))
  for (const call of calls) compare(shell(call, { KEY: key }), call, events, 'Europe/Berlin')
  partSeconds.try = since(began)
  await openSignedIn(output)
  failing('try', () => walkWhileTried(clone, cleanEnvironment()))
  await end(child)
}

/** The printed address shows a button, and the button leads to the dashboard of the demo site. */
async function openSignedIn(output: string): Promise<void> {
  const address = /http:\/\/localhost:\d+\/sign-in\/\S+/.exec(output)?.[0] as string
  const page = await fetch(address)
  const [, token = ''] = /name="token" value="([^"]*)"/.exec(await page.text()) ?? []
  const cookiesOf = ({ headers }: Response) =>
    headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
  const { origin } = new URL(address)
  const done = await fetch(address, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: cookiesOf(page), Origin: origin },
    body: new URLSearchParams({ token }),
  })
  const dashboard = done.headers.get('location') ?? ''
  assert.equal(dashboard, '/sites/demo.example')
  const opened = await fetch(origin + dashboard, { redirect: 'manual', headers: { Cookie: cookiesOf(done) } })
  assert.equal(opened.status, 200)
}

/** The first hour: the real installation, with its own ClickHouse and the PostgreSQL of this machine. */
async function installIt(check: Check): Promise<void> {
  const clickhouse = await startClickHouse({ port: 8123, folder: join(folder, 'clickhouse') })
  check.onEnd(clickhouse.stop)
  const admin = openPostgres(databaseUrl, 1)
  check.onEnd(() => admin.end())
  const [taken] = await admin`SELECT 1 FROM pg_database WHERE datname = 'footfall'`
  assert.equal(taken, undefined, 'A database named footfall exists already, and this check would damage it')
  // As docs/operations.md says, before the README's commands.
  check.onEnd(() => admin.unsafe('DROP ROLE IF EXISTS footfall'))
  check.onEnd(() => admin.unsafe('DROP DATABASE IF EXISTS footfall WITH (FORCE)'))
  await admin.unsafe("CREATE ROLE footfall LOGIN PASSWORD 'footfall'")
  await admin.unsafe('CREATE DATABASE footfall OWNER footfall')
  const began = performance.now()
  const { output } = await start(
    check,
    'zsh',
    block('install'),
    /\/setup\/[\s\S]*Server listening|Server listening[\s\S]*\/setup\//,
  )
  const key = /^(ff_s_\w{36})$/m.exec(output)?.[1] as string
  const call = block('call')
  compare(shell(call, { KEY: key }), call, await eventsOf(8123), 'Europe/Berlin')
  partSeconds.install = since(began)
  assert.equal((statSync(join(clone, '.env')).mode & 0o777).toString(8), '600')
  failing('install', () => walkWhileServing(clone, cleanEnvironment()))
}

function block(name: string): string {
  const [, commands] = new RegExp(`\`\`\`sh ${name}\n([^]*?)\`\`\``).exec(readme) ?? []
  assert.ok(commands, `The README has no block named ${name}`)
  return commands
}

function failing(part: string, walk: () => number): void {
  const began = performance.now()
  walked += walk()
  partSeconds[`${part}, failures`] = since(began)
}

/** Runs commands in the clone until they print the expected text; the last of them keeps running. */
async function start(check: Check, shell: string, commands: string, until: RegExp) {
  const child = spawn(shell, ['-ec', commands], {
    cwd: clone,
    env: cleanEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  check.onEnd(() => end(child))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
    process.stderr.write(chunk)
  })
  const deadline = Date.now() + 240_000
  while (!until.test(output)) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`The commands did not print the expected text:\n${output}`)
    await pause(50)
  }
  return { child, output }
}

function shell(command: string, extra: Record<string, string>): string {
  return execFileSync('bash', ['-ec', command], {
    env: { ...cleanEnvironment(), ...extra },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/**
 * As on a new user's machine: without the settings of this run. Cached packages are not downloaded again, as the registry may be slow, and
 * deadlines are longer than usual, because a busy machine must not look like a fault.
 */
function cleanEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env
  return {
    PATH,
    HOME,
    npm_config_prefer_offline: 'true',
    FOOTFALL_DEADLINE_FACTOR: '20',
    ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }),
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
  }
}

function compare(text: string, call: string, events: TrafficEvent[], zone: string): void {
  const [, report, query] = /stats\/(\w+)\?([^"]+)"/.exec(call) as unknown as [string, Report, string]
  const { meta } = JSON.parse(text) as { meta: { site_id: string; generated_at: string } }
  const site = { siteId: meta.site_id, zone, excludedCountries: [], events }
  const expected = answer(site, report, [...new URLSearchParams(query)], Date.parse(meta.generated_at))
  assert.equal(expected.status, 200)
  assert.equal(text, (expected as { body: string }).body, call)
  compared++
}

async function eventsOf(port: number): Promise<TrafficEvent[]> {
  const statement = `SELECT site_id AS siteId, toString(day) AS day, toUnixTimestamp64Milli(time) AS time, toString(visitor_id) AS visitorId,
    toString(session_id) AS sessionId, toString(event_id) AS eventId, name, hostname, pathname, referrer, channel,
    if((events.time, toString(events.event_id)) = (titles.latest.time, titles.latest.event_id), titles.latest.title, '') AS title,
    utm_source AS utmSource, country, device
    FROM footfall.events LEFT JOIN
    (SELECT site_id, pathname, country, max(latest) AS latest FROM footfall.titles GROUP BY site_id, pathname, country) AS titles
    USING (site_id, pathname, country) FORMAT JSONEachRow`
  const response = await fetch(`http://127.0.0.1:${port}/?user=footfall&password=footfall`, {
    method: 'POST',
    body: statement,
  })
  return (await response.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TrafficEvent)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-(child.pid as number), 'SIGTERM')
  await Promise.race([ended, pause(10_000)])
  try {
    process.kill(-(child.pid as number), 'SIGKILL')
  } catch {
    // it has already exited
  }
}

function since(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10
}
