// Many clients over many small sites, popular ones more often (Zipf, exponent 1), endpoints equally: the API against the bare engine on
// the same statements, in turns.
import { createKey } from '../../src/accounts/keys.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Statement } from '../../src/stores/clickhouse-sql.ts'
import { openConnection, requestText } from '../../test/checks/tenant/connection.ts'
import { type Random, seeded } from '../../test/oracle/random.ts'
import { type ApiProcess, startApiProcess } from '../../test/support/api-process.ts'
import { keySecrets } from '../../test/support/stores.ts'
import { openByHttp } from '../api/engine-connection.ts'
import { round } from '../api/measure.ts'
import { answer } from './answers.ts'
import { cacheOff, canFold, foldsOf } from './folding.ts'
import { periodsFor, queryOf, reportNames, type WindowWord, windows } from './questions.ts'
import type { World } from './world.ts'

export interface ThroughputOptions {
  world: World
  clients: number
  /** Different requests in the sequence that is repeated. */
  requests: number
  rounds: number
  /** Of each kind in each round. */
  seconds: number
  say: (text: string) => void
}

/** Answers a second, the median over the rounds. */
interface Throughput {
  bare: number
  /** Without and with the cache of answers. */
  api: number
  cached: number | null
}

export type ThroughputResult = Record<WindowWord, Throughput>

const range = '30d'
const mostRequestsAKey = 4_500 // of 5,000 an hour

export async function measureThroughput(options: ThroughputOptions): Promise<ThroughputResult> {
  const { world, clients, rounds, seconds, say } = options
  const engine = openByHttp(world.clickhouseUrl, { connections: clients })
  const stores = { postgres: world.postgresUrl, clickhouse: world.clickhouseUrl }
  const apis: Partial<Record<'api' | 'cached', ApiProcess>> = {}
  const random = seeded('throughput')
  const keys = keyChain(world)
  try {
    apis.api = await startApiProcess(stores, { ...world.environment, ...cacheOff })
    if (canFold) apis.cached = await startApiProcess(stores, world.environment)
    const entries: [WindowWord, Throughput][] = []
    for (const window of windows) {
      const sequence = await drawn(options, random, window)
      const rates: Record<keyof Throughput, number[]> = { bare: [], api: [], cached: [] }
      const kinds: [keyof Throughput, () => Promise<Worker>][] = [
        [
          'bare',
          async () => ({ work: async (nth) => void (await askAll(sequence.at(nth % sequence.length)!.statements)) }),
        ],
      ]
      const askAll = async (statements: readonly Statement[]) => {
        for (const statement of statements) await engine.ask(statement)
      }
      for (const name of ['api', 'cached'] as const) {
        const api = apis[name]
        if (api) kinds.push([name, () => requester(api.url, keys, (nth) => sequence.at(nth % sequence.length)!.path)])
      }
      for (let turn = 0; turn <= rounds; turn++) {
        for (const [kind, open] of random.sample(kinds, kinds.length)) {
          const rate = await perSecond(clients, turn === 0 ? Math.min(seconds, 2) : seconds, open)
          if (turn > 0) rates[kind].push(rate) // the first warms up
        }
      }
      const result = { bare: median(rates.bare), api: median(rates.api), cached: median(rates.cached) || null }
      say(`windows that end ${window}: ${JSON.stringify(result)} answers/s`)
      entries.push([window, result])
    }
    return Object.fromEntries(entries) as ThroughputResult
  } finally {
    await Promise.all([engine.close(), ...Object.values(apis).map((api) => api.stop())])
  }
}

interface Drawn {
  path: string
  statements: Statement[]
}

/** What is asked, in which order: the same for the API, as a path, and for the engine, as the statements the API would send. */
async function drawn({ world, requests }: ThroughputOptions, random: Random, window: WindowWord): Promise<Drawn[]> {
  const { small, now } = world
  const engine = openByHttp(world.clickhouseUrl)
  const sums = small.map(
    (
      (sum) => (_, rank) =>
        (sum += 1 / (rank + 1))
    )(0),
  )
  const { current } = periodsFor(range, window, now)
  const period = window === 'today' ? `range=${range}` : `range=custom&start=${current.firstDay}&end=${current.lastDay}`
  const known = new Map<string, Drawn>()
  const sequence: Drawn[] = []
  for (let nth = 0; nth < requests; nth++) {
    const share = (random.below(1e9) / 1e9) * sums.at(-1)!
    const site = small[sums.findIndex((sum) => sum > share)]!
    const report = random.pick(reportNames)
    const path = `/api/v1/stats/${report}?${period}&site_id=${site.id}`
    if (!known.has(path)) {
      const query = queryOf({ site, report, range, window, filter: 'none' }, now)
      const { statements } = await answer(engine, reports[report], { ...query, ...(await foldsOf(world, site)) })
      known.set(path, { path, statements })
    }
    sequence.push(known.get(path)!)
  }
  await engine.close()
  return sequence
}

interface Worker {
  work(nth: number): Promise<void>
  close?(): void
}

/** Every client has a connection of its own and asks again as soon as it is answered. */
async function perSecond(clients: number, seconds: number, open: () => Promise<Worker>): Promise<number> {
  const workers = await Promise.all(Array.from({ length: clients }, open))
  let [next, done] = [0, 0]
  const began = performance.now()
  const until = began + seconds * 1_000
  await Promise.all(
    workers.map(async ({ work }) => {
      while (performance.now() < until) {
        await work(next++)
        done++
      }
    }),
  )
  const rate = done / ((performance.now() - began) / 1_000)
  for (const { close } of workers) close?.()
  return rate
}

async function requester(url: string, keys: KeyChain, pathOf: (nth: number) => string): Promise<Worker> {
  const connection = await openConnection(url)
  return {
    async work(nth) {
      const request = requestText('GET', pathOf(nth), { Authorization: `Bearer ${await keys.next()}` })
      const answer = await connection.send(request)
      if (!answer.toString('latin1', 0, 12).endsWith('200')) throw new Error(`The API answered ${answer}`)
    },
    close: () => connection.close(),
  }
}

interface KeyChain {
  next(): Promise<string>
}

/** Account keys in turn, new ones as the limit of the old ones comes near: the limit is not what is measured. */
function keyChain({ postgres, accountId }: World): KeyChain {
  const inTurn = 32
  let keys: Promise<string>[] = []
  let used = 0
  return {
    next() {
      if (used % (inTurn * mostRequestsAKey) === 0) {
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
