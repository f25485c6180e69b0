// Injected rises, drops and silences: each is found by the first check after its numbers are there, once, and ended once, as the model says.
import { randomUUID } from 'node:crypto'
import { createSite } from '../../../src/accounts/sites.ts'
import type { Condition } from '../../../src/alerts/alert.ts'
import { checkIfDue } from '../../../src/alerts/checking.ts'
import { createHours } from '../../../src/alerts/hours.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { seeded } from '../../support/random.ts'
import type { Check } from '../runner.ts'
import { type Expected, expectedOf } from './model.ts'
import { addAlertTo, addWebhookTo, openOwnStores, type ToldMessage, telling, toldIn } from './own-stores.ts'
import { days, hour, makeTraffic, minute, type SiteTraffic, signup, siteZones } from './traffic.ts'

const conditions: readonly Condition[] = [
  { kind: 'many', threshold: 180 },
  { kind: 'rise', threshold: 3, minUsual: 20 },
  { kind: 'drop', threshold: 40, minUsual: 40 },
  { kind: 'silence', threshold: 2, minUsual: 20 },
  { kind: 'missing', threshold: 3, minUsual: 10, event: signup },
]

export async function checkInjected(check: Check, count: number) {
  const stores = await openOwnStores(check)
  const { postgres, clickhouse, accountId } = stores
  const random = seeded(`alerts ${check.seed}`)
  const day = random.pick(days)
  const sites = new Map<string, SiteTraffic>()
  for (let index = 0; index < count; index++) {
    const zone = siteZones[(Number(check.seed) + index) % siteZones.length] as string
    const siteId = await createSite(postgres, { accountId, domain: `site-${index}.example`, timeZone: zone })
    const traffic = makeTraffic(random, siteId, day, zone)
    await postgres`UPDATE sites SET excluded_countries = ${traffic.excludedCountries} WHERE id = ${siteId}`
    for (let from = 0; from < traffic.events.length; from += 20_000)
      await recordBatch(clickhouse, { id: randomUUID(), events: traffic.events.slice(from, from + 20_000) })
    await addWebhookTo(postgres, siteId)
    for (const condition of conditions) await addAlertTo(postgres, siteId, condition)
    sites.set(siteId, traffic)
  }
  // From the first begin of the day in all zones to its end, so that each site has its whole day.
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const window = { from: midnight - 8 * hour, until: midnight + 33 * hour }
  const hours = createHours(clickhouse)
  let slowest = 0
  for (let now = window.from; now <= window.until; now += minute) {
    const began = performance.now()
    await checkIfDue(stores, hours, now, telling)
    slowest = Math.max(slowest, performance.now() - began)
    if ((now - window.from) % (6 * hour) === 0) check.say(`${new Date(now).toISOString()}: judged`)
  }
  const told = Map.groupBy(await toldIn(postgres), ({ site }) => site)
  const counts = {
    day,
    sites: count,
    checks: (window.until - window.from) / minute + 1,
    began: 0,
    over: 0,
    injected: 0,
  }
  for (const [siteId, traffic] of sites) {
    const expected = expectedOf(traffic, conditions, window)
    compare(check, traffic, told.get(siteId) ?? [], expected)
    counts.began += expected.filter(({ change }) => change === 'began').length
    counts.over += expected.filter(({ change }) => change === 'over').length
    counts.injected += countInjected(check, traffic, expected)
  }
  const [{ mails }] = await postgres<[{ mails: number }]>`SELECT count(*)::int AS mails FROM outbox`
  const limited = Math.min(60, counts.began + counts.over)
  if (mails !== limited) check.fault('mails', `${mails} of ${limited}`)
  return { ...counts, slowestMs: Math.round(slowest) }
}

function compare(
  check: Check,
  traffic: SiteTraffic,
  told: readonly ToldMessage[],
  expected: readonly Expected[],
): void {
  const textOf = ({ kind, change, at }: Expected | ToldMessage) => `${new Date(at).toISOString()} ${kind} ${change}`
  const [found, wanted] = [told.map(textOf).sort(), expected.map(textOf).sort()]
  for (const one of wanted.filter((text) => !found.includes(text))) check.fault('not told', traffic.zone, one)
  for (const [index, one] of found.entries())
    if (!wanted.includes(one) || found.indexOf(one) !== index) check.fault('told without a cause', traffic.zone, one)
}

/** Proves that the model is not silent: what was injected has a begin while it goes on or just after, and an end. */
function countInjected(check: Check, { injected, zone }: SiteTraffic, expected: readonly Expected[]): number {
  const pairs = [
    ['many', injected.rise],
    ['rise', injected.rise],
    ['drop', injected.drop],
    ['silence', injected.silence],
    ['missing', injected.noSignups],
  ] as const
  let count = 0
  for (const [kind, { from, until }] of pairs) {
    const began = expected.find(
      (one) => one.kind === kind && one.change === 'began' && one.at >= from && one.at <= until + hour,
    )
    const over = began && expected.find((one) => one.kind === kind && one.change === 'over' && one.at > began.at)
    if (over) count++
    else check.fault('nothing injected', zone, kind)
  }
  return count
}
