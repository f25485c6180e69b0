// Events full of unique properties, each from another address: unique keys in every event, then unique values of a few keys. What a site
// records of them has a limit, however many there are, and its own properties keep their names.
import { readFileSync } from 'node:fs'
import { eventually } from '../../support/eventually.ts'
import type { Installation } from '../collect/installation.ts'
import type { Check } from '../runner.ts'
import { startSending } from './sending.ts'
import { type Kind, properties } from './traffic.ts'

/** The limits begin after this number of events and properties of a day (src/collector/intake/value-limits.ts). */
const limitedFrom = 5_000
/**
 * After that a day may add 300 keys and 10,000 values, and twice as many until the values of earlier days are read. What is not shipped by
 * then counts again.
 */
const maxKeys = limitedFrom + 3 * 300
/** A value of this length counts as three. */
const maxValues = limitedFrom + (3 * 10_000) / 3
/** Keys and values are hexadecimal digits, half a byte each. */
const maxDiskBytes = (maxValues * 240) / 2 + 500_000
const maxGrowthMb = 150
const own = { plan: 'pro', seats: '12' }
const ownEvents = 20
const arrivedWithinMs = 120_000

export async function floodOfProperties(check: Check, installation: Installation, events: number) {
  const { ask, collector } = installation

  async function floodOf(kind: Kind) {
    const site = await installation.newSite()
    const number = async (statement: string) => Number((await ask(statement))[0]?.[0])
    const ofSite = `FROM events WHERE site_id = '${site.id}'`
    const untilStored = (count: number) =>
      eventually(async () => {
        const there = await number(`SELECT count() ${ofSite}`)
        if (there < count) throw new Error(`${there} of ${count} events are in ClickHouse`)
      }, arrivedWithinMs)
    const sendOwn = async () => {
      const event = { n: 'Order', u: `https://${site.domain}/`, d: site.domain, props: own }
      for (let count = 0; count < ownEvents; count++) await collector.post(event)
    }
    const diskBytes = async () => {
      await ask('OPTIMIZE TABLE events FINAL')
      return number(
        `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'events'`,
      )
    }

    await sendOwn()
    await untilStored(ownEvents)
    const [diskBefore, peakBefore] = [await diskBytes(), peakMb(collector.pid)]
    const answers = await startSending(check, {
      ...{ url: collector.url, kind, domain: site.domain, from: '127.0.0.1', isPatient: true },
      ...{ requests: events, eventsPerRequest: 1 },
    })
    if (answers['202'] !== events) check.fault(`${kind}: every event is accepted in the end`, JSON.stringify(answers))
    await sendOwn()
    await untilStored(events + 2 * ownEvents)
    const cost = {
      sent: events * properties,
      keys: await number(`SELECT uniqExact(arrayJoin(mapKeys(props))) ${ofSite}`),
      values: await number(`SELECT uniqExact(arrayJoin(mapValues(props))) ${ofSite}`),
      diskBytes: (await diskBytes()) - diskBefore,
      growthMb: peakMb(collector.pid) - peakBefore,
    }
    check.say(`${kind}: ${JSON.stringify(answers)}, ${JSON.stringify(cost)}`)
    const most = { keys: maxKeys, values: maxValues, diskBytes: maxDiskBytes, growthMb: maxGrowthMb }
    for (const [name, bound] of Object.entries(most) as [keyof typeof most, number][]) {
      if (cost[name] > bound) check.fault(`flood of ${kind}: at most ${bound} ${name}`, `${cost[name]}`)
    }
    const kept = await number(
      `SELECT count() ${ofSite} AND name = 'Order' AND props = map('plan', '${own.plan}', 'seats', '${own.seats}')`,
    )
    if (kept !== 2 * ownEvents) check.fault(`flood of ${kind}: own properties keep their names`, `${kept} events`)
    return cost
  }
  return { keys: await floodOf('keys'), values: await floodOf('values') }
}

/** The highest resident memory of a process so far. */
const peakMb = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
