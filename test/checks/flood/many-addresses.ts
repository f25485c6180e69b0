// Unique events, each from another address, so that only the limits of the site and of its distinct values apply. Measures their cost
// against the same number of ordinary events in the same run. Events over the site's limit are sent again, so that both sites end with
// the same number.
import { cpuSeconds } from '../../../bench/api/measure.ts'
import { lastingTables } from '../../../src/cluster/tables.ts'
import { rollUpSite } from '../../../src/rollups/roll-up.ts'
import { rollUpToday } from '../../../src/rollups/today.ts'
import { openClickHouse } from '../../../src/stores/clickhouse.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import type { Installation } from '../collect/installation.ts'
import type { Check } from '../runner.ts'
import { round2 } from '../slowloris/attack.ts'
import { watchMemory } from './clickhouse-memory.ts'
import { startSending } from './sending.ts'
import type { Kind } from './traffic.ts'

/** The cost limit as a multiple of ordinary traffic. */
const maxTimes = 10
/**
 * The limit for disk applies from this number of events: distinct values are limited per day and only from 5,000 events on, so most of a
 * smaller flood is below the limit. 10,000 unique events took 18 times as much as ordinary ones, 19 MB; without that limit 29 times.
 */
const manyEvents = 100_000
const maxTimesOfFew = 25
const arrivedWithinMs = 120_000

interface Cost {
  diskBytes: number
  rollupMemoryBytes: number
  todayMemoryBytes: number
  cpuSeconds: number
  rollupSeconds: number
  todaySeconds: number
}

export async function floodFromManyAddresses(check: Check, installation: Installation, events: number) {
  const { addresses, ask, collector, clickhousePid } = installation
  const gauge = await watchMemory(check, addresses.clickhouse)
  const stores = { postgres: openPostgres(addresses.postgres, 4), clickhouse: openClickHouse(gauge.url) }
  check.onEnd(() => Promise.all([stores.postgres.end({ timeout: 1 }), stores.clickhouse.close()]))
  const number = async (statement: string) => Number((await ask(statement))[0]?.[0])
  const cpu = () =>
    [collector.pid, collector.shipperPid() as number, clickhousePid()].map(cpuSeconds).reduce((a, b) => a + b)

  /** After a final merge, so that only stored data counts. */
  async function diskBytes(): Promise<number> {
    for (const table of Object.keys(lastingTables)) await ask(`OPTIMIZE TABLE ${table} FINAL`)
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
      ...{ requests: events, eventsPerRequest: 1 },
    })
    if (answers['202'] !== events)
      check.fault('many addresses: every event is accepted in the end', JSON.stringify(answers))
    await eventually(async () => {
      const there = await number(`SELECT count() FROM events WHERE site_id = '${site.id}'`)
      if (there < events) throw new Error(`${there} of ${events} events are in ClickHouse`)
    }, arrivedWithinMs)
    const today = await timed(() => rollUpToday(stores, site.id, 'UTC', Date.now()))
    const rollup = await timed(() => rollUpSite(stores, site.id, new Date().toISOString().slice(0, 10)))
    const cost = {
      diskBytes: (await diskBytes()) - diskBefore,
      rollupMemoryBytes: rollup.memoryBytes,
      todayMemoryBytes: today.memoryBytes,
      cpuSeconds: round2(cpu() - cpuBefore),
      rollupSeconds: round2(rollup.seconds),
      todaySeconds: round2(today.seconds),
    }
    check.say(`${kind}: ${JSON.stringify(answers)}, ${JSON.stringify(cost)}`)
    return cost
  }

  const ordinary = await costOf('ordinary')
  const unique = await costOf('unique')
  const times = {
    disk: 'diskBytes',
    memory: 'rollupMemoryBytes',
    today: 'todayMemoryBytes',
    cpu: 'cpuSeconds',
  } as const
  const ratios = Object.entries(times).map(([name, cost]) => [name, round2(unique[cost] / ordinary[cost])] as const)
  for (const [name, ratio] of ratios) {
    const most = name === 'disk' && events < manyEvents ? maxTimesOfFew : maxTimes
    if (ratio <= most) continue
    check[name === 'cpu' ? 'slow' : 'fault'](
      `many addresses: ${name} at most ${most} times that of ordinary traffic`,
      `${ratio} times`,
    )
  }
  return { events, ordinary, unique, times: Object.fromEntries(ratios) }
}
