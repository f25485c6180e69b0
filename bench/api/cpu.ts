// The cost of a request that does not reach ClickHouse: CPU of the API process against node:http with the same response.

import type { ApiProcess } from '../../test/support/api-process.ts'
import { openConnection, requestText } from '../../test/support/connection.ts'
import type { BareAnswer } from './bare-server.ts'
import { startBareServer, startLoad } from './children.ts'
import { cpuNanoseconds, round, type Spread, spreadOf } from './measure.ts'

export interface CpuOptions {
  apis: { memory: ApiProcess; redis: ApiProcess }
  /** One per round, because a key allows 5,000 requests per hour. */
  keys: readonly string[]
  rounds: number
  /** Rounds repeat until this time has passed. */
  seconds: number
  say: (text: string) => void
}

interface Compared extends Spread {
  ratio: Spread
}

export interface CpuResult {
  rounds: number
  /** Microseconds of CPU per request. */
  bare: Spread
  memory: Compared
  redis: Compared
}

const connections = 16
const requestsARound = 4_000
const warmUpRounds = 2
const path = '/api/v1/stats/overview?range=nonsense'
const expected = 'HTTP/1.1 400'

export async function measureCpu({ apis, keys, rounds, seconds, say }: CpuOptions): Promise<CpuResult> {
  const requests = keys.map((key) => requestText('GET', path, { Authorization: `Bearer ${key}` }))
  const bare = await startBareServer(await answerOf(apis.memory.url, requests[0] as string))
  const load = startLoad()
  const servers = { bare, ...apis }
  const names = ['bare', 'memory', 'redis'] as const
  const used: Record<(typeof names)[number], number[]> = { bare: [], memory: [], redis: [] }
  const until = performance.now() + seconds * 1000

  async function measure(name: (typeof names)[number], request: string): Promise<number> {
    const { url, pid } = servers[name]
    const run = (count: number, at: number) => load.run({ url, request, connections: at, requests: count, expected })
    await run(1, 1) // the first request of a key queries PostgreSQL
    const before = cpuNanoseconds(pid)
    await run(requestsARound, connections)
    return (cpuNanoseconds(pid) - before) / 1000 / requestsARound
  }

  try {
    for (const [round, request] of requests.entries()) {
      const measured = round - warmUpRounds
      if (measured >= rounds && performance.now() > until) break
      // Each has another position in each round, so that none always follows the same one.
      const order = [0, 1, 2].map((place) => names[(place + round) % 3] as (typeof names)[number])
      for (const name of order) {
        const microseconds = await measure(name, request)
        if (measured >= 0) used[name].push(microseconds)
      }
      if (measured >= 0 && measured % 5 === 0) {
        say(`round ${measured}: ${names.map((name) => `${name} ${used[name].at(-1)?.toFixed(1)}`).join(', ')} µs`)
      }
    }
  } finally {
    load.stop()
    bare.stop()
  }
  const bareSpread = spreadOf(used.bare)
  const compared = (values: readonly number[]): Compared => {
    const { p10, median } = spreadOf(values)
    const ratio = { p10: round(p10 / bareSpread.p10, 3), median: round(median / bareSpread.median, 3) }
    return { p10, median, ratio }
  }
  return { rounds: used.bare.length, bare: bareSpread, memory: compared(used.memory), redis: compared(used.redis) }
}

/** The response of the API, to be repeated. Node adds Date, Connection and Keep-Alive itself. */
async function answerOf(url: string, request: string): Promise<BareAnswer> {
  const connection = await openConnection(url)
  const [head, body] = (await connection.send(request)).toString().split('\r\n\r\n') as [string, string]
  connection.close()
  const [status, ...lines] = head.split('\r\n') as [string, ...string[]]
  if (!status.startsWith(expected)) throw new Error(`${status} instead of ${expected}`)
  const headers = lines
    .map((line) => line.split(/: (.*)/, 2) as [string, string])
    .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name.toLowerCase()))
  return { status: Number(status.split(' ')[1]), headers, body }
}
