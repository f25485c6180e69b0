// No response ever contains data of another site (docs/contract.md 5 and 7): in the statements of the reports, when PostgreSQL is late, with
// many concurrent requests to two API processes, and in refusals.
//   npm run check:tenant                                                              on every change
//   npm run check:tenant -- --queries 1000000 --requests 100000 --sites 100           every night
//   npm run check:tenant -- --only refusals --enum 20000                              also times refusals
import { Worker } from 'node:worker_threads'
import { type ApiProcess, startApiProcess } from '../../support/api-process.ts'
import { seeded } from '../../support/random.ts'
import { type Check, runCheck } from '../runner.ts'
import { askAssistants } from './assistants.ts'
import { openBreakableStores } from './breakable-stores.ts'
import { checkLateDirectory } from './late-directory.ts'
import { compareRefusals, timeRefusals } from './refusals.ts'
import { type Found, shortcomings, tellingTimes } from './shortcomings.ts'
import type { StatementCounts, StatementShare } from './statement-cases.ts'
import { runTraffic } from './traffic.ts'
import { makeSites } from './watermarked-sites.ts'

const allParts = ['statements', 'lookups', 'traffic', 'refusals', 'assistants']

interface Chosen {
  requests: number
  sites: number
  enum: number
  parts: readonly string[]
}

await runCheck(
  {
    name: 'tenant',
    // `enum` refusals of each kind are timed.
    options: { queries: 20_000, requests: 1_000, sites: 20, enum: 0, only: allParts.join() },
    // Several times what it takes on two busy cores.
    seconds: ({ queries, requests, enum: enumEach }) => 120 + queries * 0.0006 + requests * 0.012 + enumEach * 0.02,
  },
  async (check, { only, queries, ...options }) => {
    const parts = only.split(',')
    for (const part of parts) if (!allParts.includes(part)) throw new Error(`No part is called ${part}`)
    const found: Found = {}
    if (parts.includes('statements')) {
      found.statements = await checkStatements(check, queries)
      check.say(`${found.statements.cases} queries, ${found.statements.breaches} breaches`)
    }
    if (parts.some((part) => part !== 'statements'))
      Object.assign(found, await checkProcesses(check, { ...options, parts }))
    for (const totals of Object.values(found)) for (const example of totals.examples ?? []) check.say(example)
    for (const text of shortcomings(found)) check.fault(text)
    for (const text of tellingTimes(found)) check.slow(text)
    return Object.fromEntries(Object.entries(found).map(([name, totals]) => [name, { ...totals, examples: undefined }]))
  },
)

/** Two workers, because the cases are pure computation. */
async function checkStatements(check: Check, queries: number): Promise<StatementCounts> {
  const shares = [Math.ceil(queries / 2), Math.floor(queries / 2)]
  const counts = await Promise.all(
    shares.map((count, index) => {
      const { promise, resolve, reject } = Promise.withResolvers<StatementCounts>()
      const share: StatementShare = { count, seed: `${check.seed} ${index}` }
      const worker = new Worker(new URL('statement-cases.ts', import.meta.url), { workerData: share })
      check.onEnd(() => worker.terminate())
      let told = 0
      worker.on('message', (message: { cases?: number; totals?: StatementCounts }) => {
        if (message.totals) resolve(message.totals)
        if ((message.cases ?? 0) < told + 100_000) return
        told = message.cases as number
        check.say(`${told} of ${count} statement cases in worker ${index}`)
      })
      worker.on('error', reject)
      return promise
    }),
  )
  return counts.reduce((one, other) => ({
    cases: one.cases + other.cases,
    statements: one.statements + other.statements,
    breaches: one.breaches + other.breaches,
    examples: [...one.examples, ...other.examples],
  }))
}

async function checkProcesses(
  check: Check,
  { requests, sites: siteCount, enum: enumEach, parts }: Chosen,
): Promise<Found> {
  const { seed, say } = check
  const found: Found = {}
  const stores = await openBreakableStores()
  check.onEnd(() => stores.remove())
  const isLong = requests > 20_000
  if (parts.includes('lookups')) {
    found.lookups = await checkLateDirectory(stores, isLong ? 20 : 3, seeded(`${seed} late`))
    const { lookups, refused, wrong } = found.lookups
    say(`${lookups} lookups, ${refused} timed out, ${wrong} returned another's row`)
  }
  if (!['traffic', 'refusals', 'assistants'].some((part) => parts.includes(part))) return found

  const today = Temporal.Now.zonedDateTimeISO('UTC').toPlainDate()
  const days = { recent: today.subtract({ days: 3 }), older: today.subtract({ days: 45 }) }
  // A key allows 5,000 requests per hour.
  const sites = await makeSites(stores, siteCount, days, Math.ceil(requests / siteCount / 2_000))
  say(`created ${siteCount} sites`)
  const apis = await Promise.all([1, 2].map(() => startApi(check, stores.addresses)))
  const random = seeded(seed)
  if (parts.includes('traffic')) {
    found.traffic = await runTraffic({ stores, apis, sites, days, requests, random, longOutages: isLong, say })
    if (found.traffic.answered.late > 0) for (const words of failuresIn(apis)) say(words)
  }
  const [{ url }] = apis as [ApiProcess]
  if (parts.includes('refusals')) found.refusals = await compareRefusals(url, sites, days)
  if (parts.includes('assistants')) {
    const urls = apis.map((api) => api.url)
    found.assistants = await askAssistants(urls, sites, Math.ceil(requests / 5), seeded(`${seed} assistants`))
  }
  if (enumEach > 0) {
    say(`timing ${enumEach} refusals of each kind`)
    found.enum = await timeRefusals(url, stores.postgres, sites, enumEach, random)
  }
  return found
}

/** Without Redis: each process counts by itself, and this check does not test the limits. */
async function startApi(
  check: Check,
  { postgres, clickhouse }: { postgres: string; clickhouse: string },
): Promise<ApiProcess> {
  // With a response cache, which must never return another site's response.
  const api = await startApiProcess({ postgres, clickhouse }, { RESPONSE_CACHE_MB: '64' })
  check.onEnd(() => api.stop())
  return api
}

/** The causes of failed requests in the logs of the processes, each once. */
function failuresIn(apis: readonly ApiProcess[]): string[] {
  const lines = apis.flatMap((api) => api.log().split('\n')).filter((line) => line.includes('"err":'))
  const causes = lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err)
  return [...new Set(causes.map(({ message }) => message))]
}
