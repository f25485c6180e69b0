// What the API adds to the cost of its parts (docs/operations.md): CPU per request against bare node:http, latency against its own SQL.
// All comparisons alternate within one run, because the load of a machine always changes.
//   npm run bench:api [-- --seconds 60 --range 30d --each 300]
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { type ApiProcess, startApiProcess } from '../../test/support/api-process.ts'
import { readOptions } from '../../test/support/options.ts'
import { startOwnRedis } from '../../test/support/own-servers.ts'
import { connect, createStores, disconnect, keySecrets } from '../../test/support/stores.ts'
import { type CpuResult, measureCpu } from './cpu.ts'
import { type Against, type LatencyOptions, type LatencyResult, measureLatency } from './latency.ts'
import { machineTime, since } from './measure.ts'
import { recordSmallSite } from './small-site.ts'

const values = readOptions('api', {
  /** For the CPU part; the latency part runs until its requests are done. */
  seconds: 30,
  rounds: 10,
  each: 300,
  range: '30d',
  /** Which way of sending bare SQL the targets apply to: `client` or `http`. */
  against: 'client',
  /** Only `cpu` or only `latency`. */
  only: '',
  /** A folder for the CPU profiles of the API processes. */
  profile: '',
})

const targets = { memory: 2.5, redis: 5, added: 0.5, ratio: 1.25 }
const maxRounds = 120

const startedAt = performance.now()
const say = (text: string): void =>
  void process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${text}\n`)

/** Runs in reverse order at the end, after success or failure. */
const endings: (() => Promise<unknown>)[] = []
async function clearAway(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end().catch((error) => say(`clearing away: ${error}`))
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void giveUp(signal))
process.on('uncaughtException', (error) => void giveUp(`${error.stack}`))
const timeoutMs = 180_000 + values.seconds * 2_000 + values.each * 500
setTimeout(() => void giveUp(`not finished in ${timeoutMs / 1000} s`), timeoutMs).unref()

async function giveUp(why: string): Promise<never> {
  await clearAway()
  console.log(JSON.stringify({ bench: 'api', ok: false, short: [why] }))
  process.exit(1)
}

async function start() {
  const created = await createStores()
  endings.push(() => created.remove())
  const stores = connect(created.addresses)
  endings.push(() => disconnect(stores))
  const accountId = await createAccount(stores.postgres, { name: 'Bench', plan: 'Agency' })
  const siteId = await createSite(stores.postgres, { accountId, domain: 'bench.example' })
  const makeKey = async () => (await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Bench' })).text
  const { postgres, clickhouse } = created.addresses
  const profiled = values.profile
    ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=200 --cpu-prof-dir=${values.profile}` }
    : {}
  const startApi = async (redis?: string): Promise<ApiProcess> => {
    const api = await startApiProcess({ postgres, clickhouse, ...(redis && { redis }) }, { ...profiled })
    endings.push(() => api.stop())
    return api
  }
  return { stores, siteId, makeKey, startApi, clickhouse }
}

function shortcomings(cpu: CpuResult | undefined, latency: LatencyResult | undefined): string[] {
  const short: string[] = []
  for (const name of cpu ? (['memory', 'redis'] as const) : []) {
    const { median } = (cpu as CpuResult)[name].ratio
    if (median > targets[name]) short.push(`cpu ${name}: ${median}x bare, not ${targets[name]}x`)
  }
  for (const [name, { addedRatio, ratio }] of Object.entries(latency?.reports ?? {})) {
    if (addedRatio.median > targets.added) short.push(`${name}: adds ${addedRatio.median}x SELECT 1`)
    if (ratio.median > targets.ratio) short.push(`${name}: ${ratio.median}x its own SQL`)
  }
  return short
}

try {
  const { stores, siteId, makeKey, startApi, clickhouse } = await start()
  const machine = machineTime()
  const memory = await startApi()
  let cpu: CpuResult | undefined
  if (values.only !== 'latency') {
    const redisServer = await startOwnRedis()
    endings.push(() => redisServer.remove())
    const apis = { memory, redis: await startApi(redisServer.url) }
    const keys = await Promise.all(Array.from({ length: maxRounds }, makeKey))
    cpu = await measureCpu({ apis, keys, rounds: values.rounds, seconds: values.seconds, say })
  }
  let latencies: Record<Against, LatencyResult> | undefined
  if (values.only !== 'cpu') {
    say(`${await recordSmallSite(stores, siteId, Temporal.Now.instant())} events recorded`)
    const { each } = values
    const keys = await Promise.all(Array.from({ length: Math.ceil((each * 9) / 4_000) }, makeKey))
    const range = values.range as LatencyOptions['range']
    latencies = await measureLatency({ apiUrl: memory.url, clickhouseUrl: clickhouse, siteId, keys, range, each, say })
  }
  const { steal, busy } = since(machine)
  const short = shortcomings(cpu, latencies?.[values.against as Against])
  await clearAway()
  console.log(JSON.stringify({ bench: 'api', steal, busy, cpu, latency: latencies, ok: short.length === 0, short }))
  process.exitCode = short.length === 0 ? 0 : 1
} catch (error) {
  say(`${(error as Error).stack}`)
  await giveUp((error as Error).message)
}
