// Ordinary days of the demo with the default settings of every kind: no alert. The demo has pushes: campaigns add up to a fifth, which is no rise,
// and one viral day in its first eleven months, which is one. Its last days, which are watched here, have none; the plan of the demo says so.
import { createSite } from '../../../src/accounts/sites.ts'
import { allKinds, type Condition, kinds } from '../../../src/alerts/alert.ts'
import { checkIfDue } from '../../../src/alerts/checking.ts'
import { createHours, type Hours } from '../../../src/alerts/hours.ts'
import { generateDemo } from '../../../src/demo/generate.ts'
import { planDays } from '../../../src/demo/plan.ts'
import { shapeOf, tablesOf } from '../../../src/demo/shape.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import type { Stores } from '../../support/stores.ts'
import type { Check } from '../runner.ts'
import { addAlertTo, addWebhookTo, openOwnStores, telling, toldIn } from './own-stores.ts'
import { hour, minute } from './traffic.ts'

/** The last one has up to 350 visitors in an hour. With 4,000,000 events it would often have the 500 that the first kind of alert begins with. */
const sites = [
  { events: 25_000, zone: 'Europe/Berlin' },
  { events: 100_000, zone: 'America/New_York' },
  { events: 400_000, zone: 'Asia/Kolkata' },
  { events: 1_500_000, zone: 'UTC' },
  { events: 2_500_000, zone: 'Europe/London' },
]
/** Of each hour, the minutes at which the alerts are judged: after its end has settled, and just before its end. */
const minutes = [2, 10, 18, 26, 34, 42, 50, 59]
/** A campaign may multiply the sessions of a day by 1.3, a rise is three times. */
const maxPush = 0.25

export async function checkQuiet(check: Check, days: number) {
  const stores = await openOwnStores(check)
  const { postgres, clickhouse, accountId } = stores
  const until = Math.floor(Date.now() / hour) * hour
  const from = until - days * 24 * hour
  let events = 0
  for (const [index, { events: wanted, zone }] of sites.entries()) {
    const domain = `quiet-${index}.example`
    const siteId = await createSite(postgres, { accountId, domain, timeZone: zone })
    const seed = Number(check.seed) + index
    checkPlan(check, { until, zone, sessions: Math.round(wanted / 4), seed, days, events: wanted })
    events += (await generateDemo({ clickhouse, siteId, domain, zone, events: wanted, seed, until })).events
    await addWebhookTo(postgres, siteId)
    const [event] = await clickhouse.rowsPatiently<{ name: string }>(sql`
      SELECT name FROM events WHERE site_id = ${text(siteId)} AND name <> 'pageview' GROUP BY name ORDER BY count() DESC LIMIT 1`)
    await addDefaults(postgres, siteId, event?.name ?? 'Signup')
    check.say(`${domain}: ${wanted} events`)
  }
  const hours = createHours(clickhouse)
  let checks = 0
  for (let start = from; start < until; start += hour) {
    for (const one of minutes) {
      await checkIfDue(stores, hours, start + one * minute, telling)
      checks++
    }
    if ((start - from) % (48 * hour) === 0) check.say(`${new Date(start).toISOString()}: judged`)
  }
  for (const { site, kind, change, at } of await toldIn(postgres))
    check.fault('false alarm', site, `${new Date(at).toISOString()} ${kind} ${change}`)
  const [{ on }] = await postgres<[{ on: number }]>`SELECT count(*)::int AS on FROM alerts WHERE began_at IS NOT NULL`
  if (on > 0) check.fault('an alert has begun', `${on}`)
  await checkAwake(check, stores, hours, until)
  return { days, sites: sites.length, events, checks, alerts: sites.length * allKinds.length }
}

const addDefaults = async (postgres: Postgres, siteId: string, event: string): Promise<void> => {
  for (const kind of allKinds) {
    const { threshold, minUsual } = kinds[kind]
    const condition = { kind, threshold: threshold.default, minUsual: minUsual?.default, event } as Condition
    await addAlertTo(postgres, siteId, condition)
  }
}

interface Planned {
  until: number
  zone: string
  sessions: number
  seed: number
  days: number
  events: number
}

/** Says so if the demo has a rise in these days by its own plan. */
function checkPlan(check: Check, { days, events, ...options }: Planned): void {
  const plan = planDays({ ...options, pushes: tablesOf(shapeOf(events)).pushes })
  for (const { date, push } of plan.slice(-days - 1))
    if (push.share > maxPush) check.fault('the demo has a rise', date, `${push.share}`)
}

/** The same alerts are not deaf: when the traffic ends, the larger sites fall silent. */
async function checkAwake(check: Check, stores: Stores, hours: Hours, until: number): Promise<void> {
  for (let now = until; now <= until + 12 * hour; now += 9 * minute) await checkIfDue(stores, hours, now, telling)
  const silent = (await toldIn(stores.postgres)).filter(({ kind }) => kind === 'silence')
  if (silent.length < 3) check.fault('deaf', `${silent.length} of ${sites.length} sites fell silent`)
}
