// The parts that break and the parts that must survive: separate stores, `footfall serve`, a second collector with a slow clock, and sites
// with old traffic.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { openClickHouse } from '../../../src/stores/clickhouse.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { startCollectorProcess } from '../../support/collector-process.ts'
import { eventOf } from '../../support/events.ts'
import { type Outcome, runFootfall } from '../../support/installation.ts'
import { startOwnStores } from '../../support/own-stores.ts'
import { launchServe } from '../../support/serve-process.ts'
import { keySecrets } from '../../support/stores.ts'
import type { Check } from '../runner.ts'

export interface ChaosSite {
  id: string
  domain: string
  /** The events recorded before anything ran. */
  past: string[]
}

export type Installation = Awaited<ReturnType<typeof install>>

/** Below 5,000 per hour, the limit of the largest plan. */
const maxRequestsOfKey = 4_000
const pastDays = 5
const pastEventsADay = 40

/** A zone in which yesterday closed recently, half an hour after midnight: a collector with a slow clock still writes events for it. */
function justClosedZone(now: number): { zone: string; minutes: number } {
  for (let offset = -12; offset <= 14; offset++) {
    const minutes = (((now / 60_000 + offset * 60) % 1_440) + 1_440) % 1_440
    // These names have the opposite sign.
    if (minutes >= 31 && minutes < 91) return { zone: `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`, minutes }
  }
  throw new Error('Midnight is everywhere once a day')
}

export async function install(check: Check, minutes: number) {
  const stores = await startOwnStores()
  check.onEnd(() => stores.remove())
  const { addresses } = stores
  const justClosed = justClosedZone(Date.now())
  const postgres = openPostgres(addresses.postgres, 2)
  const clickhouse = openClickHouse(addresses.clickhouse)
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })
  const accountId = await createAccount(postgres, { name: 'Chaos', plan: 'Agency' })

  async function newSite(timeZone: string): Promise<ChaosSite> {
    const domain = `${randomUUID()}.example`
    const id = await createSite(postgres, { accountId, domain, timeZone })
    const past = Array.from({ length: pastDays * pastEventsADay }, () => randomUUID())
    const events = past.map((eventId, index) => {
      const at = new Date(Date.now() - (2 + (index % pastDays)) * 86_400_000).toISOString()
      return eventOf({ at, eventId, hostname: domain, visitor: `visitor ${index % 50}` }, id, timeZone)
    })
    const months = Map.groupBy(events, ({ day }) => day.slice(0, 7)).values()
    for (const some of months) await recordBatch(clickhouse, { id: randomUUID(), events: some })
    return { id, domain, past }
  }

  /** Requests are about these sites, and nothing about them changes. */
  const steady = [await newSite('UTC'), await newSite('America/New_York')]
  /** The time zones of these sites change, and they are rolled up again and again. */
  const restless = [await newSite(justClosed.zone), await newSite('Pacific/Auckland')]
  const doomed = await newSite(justClosed.zone)
  const keys: { text: string; site: ChaosSite }[] = []
  for (let key = 0; key < Math.max(8, (minutes * 12_000) / maxRequestsOfKey); key++) {
    const site = steady[key % steady.length] as ChaosSite
    const { text } = await createKey(postgres, keySecrets, { accountId, siteId: site.id, name: 'Chaos' })
    keys.push({ text, site })
  }
  const accountKey = (await createKey(postgres, keySecrets, { accountId, name: 'All sites' })).text
  await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])

  const server = await launchServe(addresses)
  check.onEnd(async () => {
    await server.kill()
    rmSync(server.spoolFolder, { recursive: true, force: true })
  })
  await server.untilReady()
  const slowBy = (justClosed.minutes + 7) * 60_000
  const slow = await startCollectorProcess(addresses, {
    environment: {
      NODE_OPTIONS: `--import=${new URL('../../support/unsteady-world.ts', import.meta.url).href}`,
      UNSTEADY_STEPS: JSON.stringify([{ clockMs: -slowBy }]),
    },
  })
  check.onEnd(async () => {
    await slow.kill()
    rmSync(slow.spoolFolder, { recursive: true, force: true })
  })
  check.say(
    `${justClosed.zone} is ${Math.round(justClosed.minutes)} minutes past midnight; one clock is 7 minutes slow`,
  )
  return {
    stores,
    addresses,
    server,
    slow,
    steady,
    restless,
    doomed,
    keys,
    accountKey,
    justClosedZone: justClosed.zone,
    footfall: (...words: string[]): Promise<Outcome> =>
      runFootfall(words, { PATH: process.env.PATH ?? '', ...server.environment }),
  }
}
