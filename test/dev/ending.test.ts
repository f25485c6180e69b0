// Ctrl-C and SIGTERM reach the whole process group. They end `try`, `dev` and `serve` with everything they started, within ten seconds,
// whatever has become of the databases.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { browserAgent } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { inherited } from '../support/inherited.ts'
import { install } from '../support/installation.ts'
import { needing } from '../support/needing.ts'
import { type OwnStores, startOwnStores } from '../support/own-stores.ts'
import { serveSettings } from '../support/serve-process.ts'
import { copyWorkingTree } from '../support/working-copy.ts'

const { after, before, test } = needing('ClickHouse', 'PostgreSQL', 'Redis')

const maxStartMs = 90_000
const maxEndMs = 10_000
const folder = mkdtempSync(join(tmpdir(), 'footfall-ending-'))
const copy = join(folder, 'footfall')

before(() => copyWorkingTree(copy))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Group {
  output(): string
  /** The processes whose command has this text, or all of them. */
  pids(command?: string): number[]
  /** Signals all of them, and waits until none is left. */
  endsBy(signal: 'SIGINT' | 'SIGTERM'): Promise<void>
}

/** Runs a command of the copy in a process group of its own, until it has printed the text. */
async function start(
  t: TestContext,
  words: readonly string[],
  until: RegExp,
  environment: Record<string, string> = {},
): Promise<Group> {
  const child = spawn(process.execPath, words, { cwd: copy, env: { ...inherited, ...environment }, detached: true })
  const group = child.pid as number
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const pids = (command = '') =>
    (spawnSync('pgrep', ['-g', `${group}`, '-r', 'D,R,S,T', '-f', command || '.']).stdout?.toString() ?? '')
      .split('\n')
      .filter(Boolean)
      .map(Number)
  t.after(() => pids().length > 0 && process.kill(-group, 'SIGKILL'))
  await eventually(async () => assert.match(output, until), maxStartMs)
  return {
    output: () => output,
    pids,
    async endsBy(signal) {
      const began = performance.now()
      process.kill(-group, signal)
      await eventually(async () => assert.deepEqual(pids(), [], output), 2 * maxEndMs)
      const ms = performance.now() - began
      inTime(ms < maxEndMs, `it ended ${Math.round(ms)} ms after ${signal}`)
    },
  }
}

const startOf = async (t: TestContext, name: 'try' | 'dev') =>
  start(t, [`dev/${name}.ts`, '--events', '10000', '--port', `${await freePort()}`], /Ctrl-C ends it/)

const databases = ({ pids }: Group): number[] => [...pids('chdb-server'), ...pids('pglite')]

function signalDatabases(group: Group, signal: 'SIGSTOP' | 'SIGKILL'): void {
  const found = databases(group)
  assert.equal(found.length, 2)
  for (const pid of found) process.kill(pid, signal)
}

const refusalOf = (words: readonly string[]): string => {
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: copy, env: inherited, encoding: 'utf8' })
  assert.equal(status, 1)
  return stderr
}

test('SIGINT ends try; meanwhile no other try begins, with --fresh or without it', async (t) => {
  const group = await startOf(t, 'try')
  const own = /localhost:(\d+)/.exec(group.output())?.[1] as string
  for (const [port, ...more] of [[own, '--fresh'], [`${await freePort()}`, '--fresh'], [own]]) {
    const refusal = refusalOf(['dev/try.ts', '--port', port as string, ...more])
    assert.equal(refusal, 'footfall: Another npm run try uses .footfall/try.\n  End it with Ctrl-C first.\n')
  }
  const key = /export KEY=(\S+)/.exec(group.output())?.[1]
  const call = /"(http\S+overview\S+)"/.exec(group.output())?.[1] as string
  const answer = await fetch(call, { headers: { Authorization: `Bearer ${key}` } })
  assert.equal(answer.status, 200, 'its data is still there')
  await group.endsBy('SIGINT')
})

test('SIGTERM ends try when its databases hang', async (t) => {
  const group = await startOf(t, 'try')
  signalDatabases(group, 'SIGSTOP')
  await group.endsBy('SIGTERM')
})

test('SIGTERM ends try, and the databases end after those that use them', async (t) => {
  const group = await startOf(t, 'try')
  const before = group.output().length // on a busy machine PostgreSQL may be slow once while everything starts
  await group.endsBy('SIGTERM')
  assert.doesNotMatch(group.output().slice(before), /ECONNREFUSED|ECONNRESET|does not answer/)
})

test('SIGTERM ends dev after its databases', async (t) => {
  const group = await startOf(t, 'dev')
  signalDatabases(group, 'SIGKILL')
  await group.endsBy('SIGTERM')
})

test('serve ends when its databases hang, and when they are gone', async (t) => {
  const stores: OwnStores = await startOwnStores()
  t.after(() => stores.remove())
  for (const [harm, signal] of [
    ['SIGSTOP', 'SIGTERM'],
    ['SIGKILL', 'SIGINT'],
  ] as const) {
    const group = await start(t, ['src/cli/main.ts', 'serve'], /Server listening/, {
      DATABASE_URL: stores.addresses.postgres,
      CLICKHOUSE_URL: stores.addresses.clickhouse,
      ...(await serveSettings(await freePort())),
    })
    for (const store of [stores.all.PostgreSQL, stores.all.ClickHouse])
      if (harm === 'SIGKILL') await store.kill()
      else store.signal(harm)
    await group.endsBy(signal)
    for (const store of [stores.all.PostgreSQL, stores.all.ClickHouse]) store.signal('SIGCONT')
  }
})

test('a SIGTERM that reaches all processes of serve is no failure of its shipper', async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  await installation.json('site', 'create', 'group.example')
  const settings = await serveSettings(await freePort())
  const group = await start(t, ['src/cli/main.ts', 'serve'], /Server listening/, {
    ...installation.environment,
    ...settings,
  })
  const { PORT, COLLECTOR_METRICS_PORT } = settings
  const body = JSON.stringify({ n: 'pageview', u: 'https://group.example/', d: 'group.example' })
  const event = { method: 'POST', body, headers: { 'User-Agent': browserAgent } }
  assert.equal((await fetch(`http://127.0.0.1:${PORT}/api/event`, event)).status, 202)
  await eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${COLLECTOR_METRICS_PORT}/metrics`)).text()
    assert.match(metrics, /^footfall_events_shipped_total 1$/m)
  }, maxStartMs)
  await group.endsBy('SIGTERM')
  assert.doesNotMatch(group.output(), /shipper ended/)
  assert.equal(group.output().match(/"Shipping"/g)?.length, 1, 'no second shipper began')
})
