// Many clients of many small sites, popular ones more often (Zipf, exponent 1), endpoints equally often. Alternates between the API and bare
// ClickHouse with the same statements.
import { createKey } from '../../src/accounts/keys.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Statement } from '../../src/stores/clickhouse-sql.ts'
import { type ApiProcess, startApiProcess } from '../../test/support/api-process.ts'
import { openConnection, requestText } from '../../test/support/connection.ts'
import { type Random, seeded } from '../../test/support/random.ts'
import { keySecrets } from '../../test/support/stores.ts'
import { openByHttp } from '../api/clickhouse-connection.ts'
import { round } from '../api/measure.ts'
import { answer } from './answers.ts'
import { periodsFor, queryOf, reportNames, type WindowWord, windows } from './queries.ts'
import { coverageOf } from './rollups.ts'
import type { World } from './world.ts'

export interface ThroughputOptions {
  world: World
  clients: number
  /** The number of different requests in the repeated sequence. */
  requests: number
  rounds: number
  /** Seconds per kind and round. */
  seconds: number
  say: (text: string) => void
}

/** Responses per second, the median over the rounds. */
interface Throughput {
  bare: number
  /** Without and with the response cache. */
  api: number
  cached: number
  /** Responses with a status other than 200. */
  failed: number
}

export type ThroughputResult = Record<WindowWord, Throughput>

const range = '30d'
/** Bare statements do not queue: with all clients at once ClickHouse may need more than its two seconds. */
const patient = { max_execution_time: 30 }
const maxRequestsAKey = 4_500 // of 5,000 per hour

export async function measureThroughput(options: ThroughputOptions): Promise<ThroughputResult> {
  const { world, say } = options
  const stores = { postgres: world.postgresUrl, clickhouse: world.clickhouseUrl }
  const apis: Partial<Record<'api' | 'cached', ApiProcess>> = {}
  try {
    apis.api = await startApiProcess(stores, { ...world.environment, RESPONSE_CACHE_MB: '0' })
    apis.cached = await startApiProcess(stores, { ...world.environment, RESPONSE_CACHE_MB: '64' })
    const results: Partial<ThroughputResult> = {}
    for (const window of windows) {
      results[window] = await measureWindow(options, window, apis)
      say(`windows that end ${window}: ${JSON.stringify(results[window])} answers/s`)
    }
    return results as ThroughputResult
  } finally {
    await Promise.all(Object.values(apis).map((api) => api.stop()))
  }
}

type Kind = 'bare' | 'api' | 'cached'

async function measureWindow(
  options: ThroughputOptions,
  window: WindowWord,
  apis: Partial<Record<Kind, ApiProcess>>,
): Promise<Throughput> {
  const { world, clients, rounds, seconds } = options
  const random = seeded(`throughput ${window}`)
  const sequence = await drawn(options, random, window)
  const at = (nth: number) => sequence[nth % sequence.length] as Drawn
  const clickhouse = openByHttp(world.clickhouseUrl, { connections: clients, settings: patient })
  const keys = keyChain(world)
  let failed = 0
  const open: Record<Kind, () => Promise<Worker>> = {
    bare: async () => ({
      async work(nth) {
        for (const statement of at(nth).statements) await clickhouse.ask(statement)
      },
    }),
    api: () => client('api'),
    cached: () => client('cached'),
  }
  async function client(kind: Kind): Promise<Worker> {
    const connection = await openConnection((apis[kind] as ApiProcess).url)
    return {
      async work(nth) {
        const headers = { Authorization: `Bearer ${await keys.next()}` }
        const answer = await connection.send(requestText('GET', at(nth).path, headers))
        if (!answer.toString('latin1', 0, 12).endsWith('200')) failed++
      },
      close: () => connection.close(),
    }
  }
  const kinds: Kind[] = ['bare', ...(Object.keys(apis) as Kind[])]
  const rates = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
  for (let turn = 0; turn <= rounds; turn++) {
    for (const kind of random.sample(kinds, kinds.length)) {
      // The first turn warms up: a cache is measured after every query has run once.
      const least = turn === 0 && kind === 'cached' ? sequence.length : 0
      const rate = await perSecond({ clients, seconds, least }, open[kind])
      if (turn > 0) rates.get(kind)?.push(rate)
    }
  }
  await clickhouse.close()
  const [bare = 0, api = 0, cached = 0] = (['bare', 'api', 'cached'] as const).map((kind) =>
    median(rates.get(kind) ?? []),
  )
  return { bare, api, cached, failed }
}

interface Drawn {
  path: string
  statements: Statement[]
}

/** The requests in their order: as paths for the API, and as the statements the API would send for ClickHouse. */
async function drawn({ world, requests }: ThroughputOptions, random: Random, window: WindowWord): Promise<Drawn[]> {
  const { small, now } = world
  const clickhouse = openByHttp(world.clickhouseUrl, { settings: patient })
  let sum = 0
  const sums = small.map((_, rank) => {
    sum += 1 / (rank + 1)
    return sum
  })
  const { current } = periodsFor(range, window, now)
  const period = window === 'today' ? `range=${range}` : `range=custom&start=${current.firstDay}&end=${current.lastDay}`
  const known = new Map<string, Drawn>()
  const sequence: Drawn[] = []
  for (let nth = 0; nth < requests; nth++) {
    const share = (random.below(1e9) / 1e9) * sum
    const site = small[sums.findIndex((sum) => sum > share)]!
    const report = random.pick(reportNames)
    const path = `/api/v1/stats/${report}?${period}&site_id=${site.id}`
    if (!known.has(path)) {
      const benchQuery = { site, report, range, window, filter: 'none' } as const
      const query = queryOf(benchQuery, now, await coverageOf(world, site))
      const { statements } = await answer(clickhouse, reports[report], query)
      known.set(path, { path, statements })
    }
    sequence.push(known.get(path)!)
  }
  await clickhouse.close()
  return sequence
}

interface Worker {
  work(nth: number): Promise<void>
  close?(): void
}

interface Load {
  clients: number
  seconds: number
  /** Continues until this many requests are done, but no longer than half a minute. */
  least: number
}

const timeoutMs = 30_000

/** Every client has its own connection and sends the next request right after a response. */
async function perSecond({ clients, seconds, least }: Load, open: () => Promise<Worker>): Promise<number> {
  const workers = await Promise.all(Array.from({ length: clients }, open))
  let [next, done] = [0, 0]
  const began = performance.now()
  const until = began + seconds * 1_000
  await Promise.all(
    workers.map(async ({ work }) => {
      while (performance.now() < until || (next < least && performance.now() < began + timeoutMs)) {
        await work(next++)
        done++
      }
    }),
  )
  const rate = done / ((performance.now() - began) / 1_000)
  for (const { close } of workers) close?.()
  return rate
}

interface KeyChain {
  next(): Promise<string>
}

/** Account keys in turn. New ones replace them near their limit, because the limit is not measured here. */
function keyChain({ postgres, accountId }: World): KeyChain {
  const inTurn = 32
  let keys: Promise<string>[] = []
  let used = 0
  return {
    next() {
      if (used % (inTurn * maxRequestsAKey) === 0) {
        keys = Array.from({ length: inTurn }, async () => {
          const { text } = await createKey(postgres, keySecrets, { accountId, name: 'Bench' })
          return text
        })
      }
      return keys[used++ % inTurn]!
    },
  }
}

const median = (values: number[]): number =>
  round(values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0, 1)
