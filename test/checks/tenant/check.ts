// No answer ever holds anything of another site (docs/contract.md 5 and 7): on the statements of the reports, on many requests at
// once to two API processes, in what a refusal tells, and when PostgreSQL answers late.
//   npm run check:tenant                                                              every change
//   npm run check:tenant -- --queries 1000000 --requests 100000 --sites 100           every night
//   npm run check:tenant -- --enum 20000                                              the time of refusals too
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { seeded } from '../../oracle/random.ts'
import { type ApiProcess, startApiProcess } from '../../support/api-process.ts'
import { openBreakableStores } from './breakable-stores.ts'
import { checkLateDirectory, type LateTally } from './late-directory.ts'
import { compareRefusals, type EnumTally, mostDifferenceMs, type RefusalTally, timeRefusals } from './refusals.ts'
import type { StatementShare, StatementTally } from './statement-cases.ts'
import { runTraffic, type TrafficTally } from './traffic.ts'
import { makeSites } from './watermarked-sites.ts'

const { values } = parseArgs({
  options: {
    queries: { type: 'string', default: '20000' },
    requests: { type: 'string', default: '2000' },
    sites: { type: 'string', default: '20' },
    enum: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const { seed } = values
const [queries, requests, siteCount, enumEach] = [values.queries, values.requests, values.sites, values.enum].map(
  Number,
) as [number, number, number, number]

const startedAt = performance.now()
const seconds = () => Math.round((performance.now() - startedAt) / 100) / 10
const say = (text: string): void => void process.stderr.write(`${seconds()} s: ${text}\n`)

/** Run in reverse order at the end, however it comes. */
const endings: (() => Promise<unknown>)[] = []
async function clearAway(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end().catch((error) => say(`clearing away: ${error}`))
}

function finish(result: Record<string, unknown>, short: readonly string[]): void {
  console.log(JSON.stringify({ check: 'tenant', seed, ...result, seconds: seconds(), ok: short.length === 0, short }))
  process.exitCode = short.length === 0 ? 0 : 1
}

async function giveUp(why: string): Promise<void> {
  await clearAway()
  finish({}, [why])
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void giveUp(signal))
/** Several times what it takes on two busy cores. */
const longestMs = 120_000 + queries * 0.6 + requests * 12 + enumEach * 20
setTimeout(() => void giveUp(`not done in ${longestMs / 1000} s`), longestMs).unref()

/** Two workers: the cases are all computing. */
async function checkStatements(): Promise<StatementTally> {
  const shares = [Math.ceil(queries / 2), Math.floor(queries / 2)]
  const tallies = await Promise.all(
    shares.map((count, index) => {
      const { promise, resolve, reject } = Promise.withResolvers<StatementTally>()
      const share: StatementShare = { count, seed: `${seed} ${index}` }
      const worker = new Worker(new URL('statement-cases.ts', import.meta.url), { workerData: share })
      endings.push(() => worker.terminate())
      let told = 0
      worker.on('message', (message: { cases?: number; tally?: StatementTally }) => {
        if (message.tally) resolve(message.tally)
        if ((message.cases ?? 0) < told + 100_000) return
        told = message.cases as number
        say(`${told} of ${count} statement cases in worker ${index}`)
      })
      worker.on('error', reject)
      return promise
    }),
  )
  return tallies.reduce((one, other) => ({
    cases: one.cases + other.cases,
    statements: one.statements + other.statements,
    breaches: one.breaches + other.breaches,
    examples: [...one.examples, ...other.examples],
  }))
}

interface Found {
  late: LateTally
  traffic: TrafficTally
  refusals: RefusalTally
  timing?: EnumTally
}

async function checkProcesses(): Promise<Found> {
  const stores = await openBreakableStores()
  endings.push(() => stores.remove())
  const isLong = requests > 20_000
  const late = await checkLateDirectory(stores, isLong ? 20 : 3, seeded(`${seed} late`))
  say(`${late.lookups} lookups, ${late.refused} given up, ${late.wrong} answered with another's row`)
  const today = Temporal.Now.zonedDateTimeISO('UTC').toPlainDate()
  const days = { recent: today.subtract({ days: 3 }), older: today.subtract({ days: 45 }) }
  const keysEach = Math.ceil(requests / siteCount / 2_000)
  const sites = await makeSites(stores, siteCount, days, keysEach)
  say(`${siteCount} sites are there`)
  const apis: ApiProcess[] = []
  for (let count = 0; count < 2; count++) {
    // Without Redis: the limits are counted by each process, and are not what this is about.
    const api = await startApiProcess({ postgres: stores.addresses.postgres, clickhouse: stores.addresses.clickhouse })
    endings.push(() => api.stop())
    apis.push(api)
  }
  const random = seeded(seed)
  const traffic = await runTraffic({ stores, apis, sites, days, requests, random, longOutages: isLong, say })
  if (traffic.answered.late > 0) for (const words of failuresIn(apis)) say(words)
  const [api] = apis as [ApiProcess]
  const refusals = await compareRefusals(api.url, sites)
  if (enumEach === 0) return { late, traffic, refusals }
  say(`timing ${enumEach} refusals of each kind`)
  return { late, traffic, refusals, timing: await timeRefusals(api.url, stores.postgres, sites, enumEach, random) }
}

/** What the processes say of requests that failed, each cause once. */
function failuresIn(apis: readonly ApiProcess[]): string[] {
  const lines = apis.flatMap((api) => api.log().split('\n')).filter((line) => line.includes('"err":'))
  const causes = lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err)
  return [...new Set(causes.map(({ message }) => message))]
}

function shortcomings(statements: StatementTally, { late, traffic, refusals, timing }: Found): string[] {
  const { foreign, wrong, tags, unexpected } = traffic.breaches
  const { last, notModified } = traffic.answered
  const checks: [holds: boolean, words: string][] = [
    [statements.cases === queries && statements.breaches === 0, `${statements.breaches} statements are not scoped`],
    [late.wrong === 0 && late.refused > 0, `${late.wrong} of ${late.lookups} late lookups found another's row`],
    [foreign === 0, `${foreign} answers hold something of another site`],
    [wrong === 0, `${wrong} answers have wrong numbers`],
    [tags === 0, `${tags} tags stand for something else`],
    [unexpected === 0, `${unexpected} answers were not expected`],
    [last > 0, 'no last answer was given: the outage tested nothing'],
    [notModified > 0, 'no tag ever matched'],
    [traffic.mostInFlight >= 64 && traffic.mostIdenticalInFlight >= 2, 'too little was in flight at once'],
    [traffic.exclusionChanges > 0, 'no exclusion ever changed'],
    [refusals.different === 0, `${refusals.different} refusals differ between an unknown and a foreign site`],
  ]
  for (const [name, { differenceMs }] of Object.entries(timing ?? {})) {
    const difference = `${name}: unknown and foreign sites differ by ${differenceMs.toFixed(3)} ms`
    checks.push([Math.abs(differenceMs) < mostDifferenceMs, difference])
  }
  return checks.filter(([holds]) => !holds).map(([, words]) => words)
}

try {
  say(`seed ${seed}`)
  const statements = await checkStatements()
  say(`${statements.cases} questions made ${statements.statements} statements, ${statements.breaches} breaches`)
  const found = await checkProcesses()
  for (const example of [
    ...statements.examples,
    ...found.late.examples,
    ...found.traffic.examples,
    ...found.refusals.examples,
  ])
    say(example)
  await clearAway()
  const { examples: _1, ...counted } = statements
  const { examples: _4, ...lookups } = found.late
  const { examples: _2, ...traffic } = found.traffic
  const { examples: _3, ...refusals } = found.refusals
  const timing = found.timing && { enum: found.timing }
  finish({ statements: counted, lookups, traffic, refusals, ...timing }, shortcomings(statements, found))
} catch (error) {
  say(`${(error as Error).stack}`)
  await giveUp((error as Error).message)
}
