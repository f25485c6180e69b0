// What the overview of 200 sites costs in one call, compared with a call for each. Neither has a cache; both ask the same ClickHouse, in turn.
// The sites are in several time zones, and every third excludes countries.
//   npm run bench:sites [-- --rounds 5]                    with a largest site of 300,000 events, in about a minute and a half
//   npm run bench:sites -- --events 10000000 --rounds 20
// The traffic is generated once and kept in the cache folder; bench:scale and bench:dashboard use the same.
import { isDeepStrictEqual } from 'node:util'
import { createKey } from '../../src/accounts/keys.ts'
import { setExcludedCountries, setTimeZone } from '../../src/accounts/sites.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { readOptions } from '../../test/support/options.ts'
import { keySecrets, redisUrl } from '../../test/support/stores.ts'
import { startApi } from '../../test/support/world.ts'
import { cpuSeconds, machineTime, round, since } from '../api/measure.ts'
import { countToday, rollUp } from '../scale/rollups.ts'
import { makeSite, makeSmallSites, openWorld } from '../scale/world.ts'

const { events, sites, rounds } = readOptions('sites', { events: 300_000, sites: 200, rounds: 5 })
/** Of one call, compared with a call for each site. */
const maxOfCalls = 0.1
const sitesInCall = 200
/** A key has four turns at a time, so more would wait. */
const callsAtOnce = 8
const queries = ['range=30d', 'range=12m', 'range=7d&country=US&device=mobile']
const zones = ['Asia/Tokyo', 'America/New_York', 'Europe/London']

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const ends: (() => unknown)[] = []
const world = await openWorld({ events, sites, fresh: false, say })
const { postgres, clickhouse, clickhouseServer, clickhouseUrl, postgresUrl, accountId, now, state } = world
const [whale] = world.sizes
try {
  await makeSite(world, whale, say)
  await state.once(`roll up ${whale.name}`, () => rollUp(world, whale).then(({ seconds }) => seconds))
  await makeSmallSites(world, say)
  await state.once('roll up all sites', () => rollUp(world).then(({ seconds }) => seconds))
  await countToday(world, whale)
  const ids = await differentSites()
  const open = await openApi()
  const machine = machineTime()
  const measured: Record<string, Awaited<ReturnType<typeof compare>>> = {}
  for (const query of queries) {
    measured[query] = await compare(open, ids, query)
    say(`${query}: ${JSON.stringify(measured[query])}`)
  }
  const ok = Object.values(measured).every(({ ratio, cpuRatio }) => ratio <= maxOfCalls && cpuRatio <= maxOfCalls)
  const { steal, busy } = since(machine)
  console.log(
    JSON.stringify({ bench: 'sites', sites: ids.length, events: whale.events, measured, maxOfCalls, steal, busy, ok }),
  )
  process.exitCode = ok ? 0 : 1
} finally {
  for (const end of ends.toReversed()) await end()
  await world.close()
}
process.exit()

/** The first sites by domain. At the end they are as before. */
async function differentSites(): Promise<string[]> {
  const sites = await postgres<{ id: string }[]>`
    SELECT id FROM sites WHERE account_id = ${accountId} ORDER BY domain COLLATE "C" LIMIT ${sitesInCall}`
  ends.push(async () => {
    for (const { id } of sites) {
      await setExcludedCountries(postgres, id, [])
      await setTimeZone(postgres, id, state.zone)
    }
  })
  for (const [index, { id }] of sites.entries()) {
    if (index % 3 === 0) await setExcludedCountries(postgres, id, ['DE', 'FR'])
    const zone = zones[index % 7]
    if (zone && id !== whale.id) await setTimeZone(postgres, id, zone)
  }
  return sites.map(({ id }) => id)
}

type Open = Awaited<ReturnType<typeof openApi>>

/** Without a response cache. */
async function openApi() {
  const addresses = { postgres: postgresUrl, clickhouse: clickhouseUrl, redis: redisUrl, redisPrefix: 'bench:' }
  const at = () => now.epochMilliseconds
  const api = await startApi(
    { postgres, clickhouse, cluster: clusterOf([clickhouse]), addresses },
    { now: at, limiter: memoryLimiter(at) },
  )
  ends.push(() => api.close())
  return async (path: string, key: string) => {
    const { status, json, text } = await api.fetch(`/api/v1${path}`, { headers: { Authorization: `Bearer ${key}` } })
    if (status !== 200) throw new Error(text)
    return json
  }
}

async function compare(get: Open, ids: readonly string[], query: string) {
  const inOneCall = async (key: string): Promise<unknown[]> =>
    (await get(`/sites/overview?${query}&limit=${sitesInCall}`, key)).data
  const oneByOne = async (key: string): Promise<unknown[]> => {
    const found = new Map<string, unknown>()
    const waiting = [...ids]
    const client = async () => {
      for (let id = waiting.shift(); id; id = waiting.shift())
        found.set(id, (await get(`/stats/overview?${query}&site_id=${id}`, key)).data)
    }
    await Promise.all(Array.from({ length: callsAtOnce }, client))
    return ids.map((id) => found.get(id))
  }
  const [all, each] = [await inOneCall(await newKey()), await oneByOne(await newKey())]
  const numbers = (all as { current: object; previous: object; change: object }[]).map(
    ({ current, previous, change }) => ({ current, previous, change }),
  )
  if (!isDeepStrictEqual(numbers, each)) throw new Error(`${query}: the numbers of the two sides differ`)

  const times = { one: [] as Cost[], each: [] as Cost[] }
  for (let nth = 0; nth < rounds; nth++) {
    const key = await newKey() // a key allows 5,000 requests per hour
    // Each comes first in every other round.
    for (const name of nth % 2 === 0 ? (['one', 'each'] as const) : (['each', 'one'] as const))
      times[name].push(await costOf(() => ({ one: inOneCall, each: oneByOne })[name](key)))
  }
  const [one, calls] = [spread(times.one), spread(times.each)]
  return { one, calls, ratio: round(one.ms / calls.ms, 3), cpuRatio: round(one.cpuMs / calls.cpuMs, 3) }
}

async function newKey(): Promise<string> {
  return (await createKey(postgres, keySecrets, { accountId, name: 'Bench' })).text
}

interface Cost {
  ms: number
  /** Of ClickHouse and of this process, which has the API and the client. */
  cpuMs: number
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [began, own, clickhouseBefore] = [performance.now(), process.cpuUsage(), cpuSeconds(clickhouseServer.pid)]
  await work()
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(own)
  return { ms, cpuMs: (user + system) / 1_000 + (cpuSeconds(clickhouseServer.pid) - clickhouseBefore) * 1_000 }
}

function spread(costs: readonly Cost[]) {
  const sorted = (name: keyof Cost) => costs.map((cost) => cost[name]).sort((one, other) => one - other)
  const median = (name: keyof Cost) => round(sorted(name)[costs.length >> 1] as number, 1)
  return { ms: median('ms'), minMs: round(sorted('ms')[0] as number, 1), cpuMs: median('cpuMs') }
}
