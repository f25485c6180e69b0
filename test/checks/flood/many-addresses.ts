// (b) Unique events from as many addresses as there are events, so that only the limit of the site and of its different values hold:
// what they cost beside ordinary traffic of the same number of events, measured in one run. Events that are over the site's limit are
// sent again, so that both sites end with the same number.
import { cpuSeconds } from '../../../bench/api/measure.ts'
import { foldSite } from '../../../src/folding/fold.ts'
import { foldOpenDay } from '../../../src/folding/open-days.ts'
import { openClickHouse } from '../../../src/stores/clickhouse.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import type { Installation } from '../collect/installation.ts'
import type { Check } from '../fuzz/runner.ts'
import { round2 } from '../slowloris/attack.ts'
import { watchMemory } from './engine-memory.ts'
import { startSending } from './sending.ts'
import type { Kind } from './traffic.ts'

/** How many times what ordinary traffic costs. */
const mostTimes = 10
/**
 * Of disk, for fewer events than this: what a site may have of different values is counted by the day and from 5,000 events on, so that
 * most of a small flood is still below it. 10,000 unique events took 18 times as much as ordinary ones, 19 MB; without that limit 29 times.
 */
const manyEvents = 100_000
const mostTimesOfFew = 25
const arrivedWithinMs = 120_000

interface Cost {
  diskBytes: number
  foldMemoryBytes: number
  todayMemoryBytes: number
  cpuSeconds: number
  foldSeconds: number
  todaySeconds: number
}

export async function floodFromManyAddresses(check: Check, installation: Installation) {
  const { addresses, ask, collector, enginePid } = installation
  const gauge = await watchMemory(check, addresses.clickhouse)
  const stores = { postgres: openPostgres(addresses.postgres, 4), clickhouse: openClickHouse(gauge.url) }
  check.onEnd(() => Promise.all([stores.postgres.end({ timeout: 1 }), stores.clickhouse.close()]))
  const number = async (statement: string) => Number((await ask(statement))[0]?.[0])
  const cpu = () =>
    [collector.pid, collector.shipperPid() as number, enginePid()].map(cpuSeconds).reduce((a, b) => a + b)

  /** Merged to the end, so that only what is kept counts. */
  async function diskBytes(): Promise<number> {
    for (const table of ['events', 'titles', 'short_tallies', 'long_tallies'])
      await ask(`OPTIMIZE TABLE ${table} FINAL`)
    return number('SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase()')
  }

  async function timed(work: () => Promise<unknown>): Promise<{ seconds: number; memoryBytes: number }> {
    gauge.peak()
    const began = performance.now()
    await work()
    return { seconds: (performance.now() - began) / 1000, memoryBytes: gauge.peak() }
  }

  async function costOf(kind: Kind): Promise<Cost> {
    const site = await installation.newSite()
    const [diskBefore, cpuBefore] = [await diskBytes(), cpu()]
    const answers = await startSending(check, {
      ...{ url: collector.url, kind, domain: site.domain, from: '127.0.0.1', isPatient: true },
      ...{ requests: check.n, eventsPerRequest: 1 },
    })
    if (answers['202'] !== check.n)
      check.fault('many addresses: everything is taken in the end', JSON.stringify(answers))
    await eventually(async () => {
      const there = await number(`SELECT count() FROM events WHERE site_id = '${site.id}'`)
      if (there < check.n) throw new Error(`${there} of ${check.n} events are in ClickHouse`)
    }, arrivedWithinMs)
    const today = await timed(() => foldOpenDay(stores, site.id, 'UTC', Date.now()))
    const fold = await timed(() => foldSite(stores, site.id, new Date().toISOString().slice(0, 10)))
    const cost = {
      diskBytes: (await diskBytes()) - diskBefore,
      foldMemoryBytes: fold.memoryBytes,
      todayMemoryBytes: today.memoryBytes,
      cpuSeconds: round2(cpu() - cpuBefore),
      foldSeconds: round2(fold.seconds),
      todaySeconds: round2(today.seconds),
    }
    check.say(`${kind}: ${JSON.stringify(answers)}, ${JSON.stringify(cost)}`)
    return cost
  }

  const ordinary = await costOf('ordinary')
  const unique = await costOf('unique')
  const times = { disk: 'diskBytes', memory: 'foldMemoryBytes', today: 'todayMemoryBytes', cpu: 'cpuSeconds' } as const
  const ratios = Object.entries(times).map(([name, cost]) => [name, round2(unique[cost] / ordinary[cost])] as const)
  for (const [name, ratio] of ratios) {
    const most = name === 'disk' && check.n < manyEvents ? mostTimesOfFew : mostTimes
    if (ratio <= most) continue
    check.fault(`many addresses: ${name} at most ${most} times that of ordinary traffic`, `${ratio} times`)
  }
  return { events: check.n, ordinary, unique, times: Object.fromEntries(ratios) }
}
