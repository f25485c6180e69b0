// How long a dashboard takes, compared with the same calls of the API sent in parallel; how long a click on one of its rows takes; and how
// long the page of all sites takes, compared with a call for each site. None has a cache; all ask the same ClickHouse, in turn.
//   npm run bench:dashboard [-- --rounds 20]              a site of 300,000 events, in about a minute
//   npm run bench:dashboard -- --events 100000000         the largest site of bench:scale, with the same traffic
// The traffic is generated once and kept in the cache folder.
import { createKey } from '../../src/accounts/keys.ts'
import { setExcludedCountries } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { openConsole } from '../../test/console/console.ts'
import { readOptions } from '../../test/support/options.ts'
import { keySecrets, redisUrl } from '../../test/support/stores.ts'
import { machineTime, round, since } from '../api/measure.ts'
import { countToday, rollUp } from '../scale/rollups.ts'
import { makeSite, makeSmallSites, openWorld } from '../scale/world.ts'
import { measureClicks } from './clicks.ts'

const { events, sites, rounds } = readOptions('dashboard', { events: 300_000, sites: 200, rounds: 20 })
const maxTimes = 1.5
/** Of the page of all sites, compared with a call for each. */
const maxOfCalls = 0.1
const sitesOnPage = 200
/** All of a dashboard. A key has four turns at a time, so more would wait. */
const callsAtOnce = 8

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const ends: (() => unknown)[] = []
const world = await openWorld({ events, sites, fresh: false, say })
const [whale] = world.sizes
try {
  await makeSite(world, whale, say)
  await world.state.once(`roll up ${whale.name}`, () => rollUp(world, whale).then(({ seconds }) => seconds))
  await makeSmallSites(world, say)
  await world.state.once('roll up all sites', () => rollUp(world).then(({ seconds }) => seconds))
  await countToday(world, whale)
  const machine = machineTime()
  const open = await openBoth()
  const dashboard = await measureDashboard(open)
  const clicks = await measureClicks({ ...open.clicked, rounds: Math.ceil(rounds / 4) })
  const allSites = await measureAllSites(open)
  const ok = dashboard.ratio <= maxTimes && clicks.ok && allSites.ratio <= maxOfCalls
  const { steal } = since(machine)
  console.log(JSON.stringify({ bench: 'dashboard', events: whale.events, dashboard, clicks, allSites, steal, ok }))
  process.exitCode = ok ? 0 : 1
} finally {
  for (const end of ends.toReversed()) await end()
  await world.close()
}
process.exit()

type Open = Awaited<ReturnType<typeof openBoth>>

/** The console and the API, in one process. */
async function openBoth() {
  const { postgres, clickhouse, clickhouseUrl, postgresUrl, accountId, now } = world
  const addresses = { postgres: postgresUrl, clickhouse: clickhouseUrl, redis: redisUrl, redisPrefix: 'bench:' }
  const console = await openConsole({ after: (end: () => unknown) => void ends.push(end) } as never, {
    stores: { postgres, clickhouse, cluster: clusterOf([clickhouse]), addresses },
    now: now.toInstant().toString(),
  })
  const visitor = await console.signedIn('owner', accountId)
  const key = await createKey(postgres, keySecrets, { accountId, name: 'Bench' })
  const headers = { Authorization: `Bearer ${key.text}` }
  return {
    clicked: {
      site: `${console.url}/sites/${whale.domain}`,
      headers: { Cookie: Array.from(visitor.cookies, ([name, value]) => `${name}=${value}`).join('; ') },
      async firstRow(dimension: string) {
        const call = `/api/v2/stats/breakdown?range=30d&limit=1&by=${dimension}&site_id=${whale.id}`
        const { json } = await console.api.fetch(call, { headers })
        return String(json.data[0][dimension])
      },
    },
    page: (path: string) =>
      timed(async () => {
        const { status, text } = await visitor.get(path)
        if (status !== 200 || /class="(fault|warning)/.test(text)) throw new Error(`${path} failed with ${status}`)
      }),
    calls: (calls: readonly string[]) =>
      timed(async () => {
        const waiting = [...calls]
        const client = async () => {
          for (let call = waiting.shift(); call; call = waiting.shift()) {
            const { status, text } = await console.api.fetch(call, { headers })
            if (status !== 200) throw new Error(text)
          }
        }
        await Promise.all(Array.from({ length: callsAtOnce }, client))
      }),
  }
}

/** The last number on the page, and all calls answered. */
function measureDashboard(open: Open) {
  const calls = [
    'totals?compare=previous',
    'timeseries?compare=previous',
    'breakdown?limit=10&by=page&metrics=pageviews,visitors',
    ...['referrer', 'country', 'device', 'browser'].map((by) => `breakdown?limit=10&by=${by}`),
    'breakdown?limit=10&by=event',
  ]
  return compare(
    () => open.page(`/sites/${whale.domain}?range=30d`),
    () => open.calls(calls.map((call) => `/api/v2/stats/${call}&site_id=${whale.id}`)),
  )
}

/** Every third site excludes countries. */
async function measureAllSites(open: Open) {
  const { postgres, accountId, small } = world
  const shown = await postgres<{ id: string }[]>`
    SELECT id FROM sites WHERE account_id = ${accountId} ORDER BY domain LIMIT ${sitesOnPage}`
  const excluding = shown.filter((_, index) => index % 3 === 0 && small.length > 0)
  for (const { id } of excluding) await setExcludedCountries(postgres, id, ['DE', 'FR'])
  ends.push(async () => {
    for (const { id } of excluding) await setExcludedCountries(postgres, id, [])
  })
  const compared = await compare(
    () => open.page('/'),
    () => open.calls(shown.map(({ id }) => `/api/v1/stats/overview?range=30d&site_id=${id}`)),
  )
  return { sites: shown.length, ...compared }
}

async function compare(page: () => Promise<number>, calls: () => Promise<number>) {
  await page()
  await calls()
  const times: { page: number[]; calls: number[] } = { page: [], calls: [] }
  for (let nth = 0; nth < rounds; nth++) {
    // Each comes first in every other round.
    for (const name of nth % 2 === 0 ? (['page', 'calls'] as const) : (['calls', 'page'] as const))
      times[name].push(await { page, calls }[name]())
  }
  const [pageMs, callsMs] = [median(times.page), median(times.calls)]
  const [pageLeastMs, callsLeastMs] = [Math.min(...times.page), Math.min(...times.calls)]
  return {
    pageMs: round(pageMs, 1),
    callsMs: round(callsMs, 1),
    pageLeastMs: round(pageLeastMs, 1),
    callsLeastMs: round(callsLeastMs, 1),
    ratio: round(pageMs / callsMs, 2),
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] as number
}
