// Judges the alerts of all sites once a minute. Every console runs it; a lease lets one process at a time judge the sites of a shard, and the row
// of the shard says when that was last. Two at once would still be right (telling.ts).
import type { Logger } from 'pino'
import { withLease } from '../cluster/lease.ts'
import { type AllStores, byShard, type Stores } from '../cluster/stores.ts'
import { minuteMs } from '../durations.ts'
import { repeatUntil } from '../process/repeating.ts'
import { type Alert, type WatchedAlert, watchedAlerts } from './alerts.ts'
import { zoneClock } from './clock.ts'
import { createHours, type Hours } from './hours.ts'
import { type Change, judge, type Seen } from './judging.ts'
import { anyEvent, type WatchedSite } from './statement.ts'
import { noteChange, type Telling } from './telling.ts'

/** From one check to the next. With the pause below and the check itself it is less than a minute. */
const everyMs = 54_000
const pauseMs = 2_000
/** Events of an hour that is over may be on their way for this long. */
const settleMs = 2 * minuteMs
/** After a longer pause nobody knows whether events were missing or Footfall was. */
const maxPauseMs = 10 * minuteMs

export interface CheckingOptions extends Telling {
  log: Logger
  now?(): number
  /** After each look at a shard: when its alerts were last judged. */
  onChecked?(shard: number, checkedAt: number): void
}

export interface AlertLoop {
  /** Finishes the current check first. */
  stop(): Promise<void>
}

export function startAlerts(stores: AllStores, options: CheckingOptions): AlertLoop {
  const ending = new AbortController()
  const { signal } = ending
  const { log, now = Date.now, onChecked } = options
  const loops = byShard(stores).map((shard) => {
    const hours = createHours(shard.clickhouse, (err) =>
      log.warn({ err }, 'past days for alerts cannot be read at once'),
    )
    return repeatUntil(signal, { everyMs: pauseMs, log, failure: 'alerts cannot be judged' }, async () => {
      await checkIfDue(shard, hours, now(), options)
      const checked = await lastCheck(shard)
      if (checked) onChecked?.(shard.clickhouse.shard, checked.checkedAt)
    })
  })
  return {
    async stop() {
      ending.abort()
      await Promise.all(loops)
    },
  }
}

interface Check {
  checkedAt: number
  watchedSince: number
}

async function lastCheck({ postgres, clickhouse }: Stores): Promise<Check | undefined> {
  const [row] = await postgres<{ checkedAt: Date; watchedSince: Date }[]>`
    SELECT checked_at AS "checkedAt", watched_since AS "watchedSince" FROM alert_checks WHERE shard = ${clickhouse.shard}`
  return row && { checkedAt: row.checkedAt.getTime(), watchedSince: row.watchedSince.getTime() }
}

/** The clock of another process may be ahead, but not by much. */
const isDue = (check: Check | undefined, now: number): boolean => !check || Math.abs(now - check.checkedAt) >= everyMs

/** Judges the alerts of a shard unless that was done less than a minute ago, or another process does it. */
export async function checkIfDue(stores: Stores, hours: Hours, now: number, options: Telling): Promise<void> {
  if (!isDue(await lastCheck(stores), now)) return
  await withLease(stores.postgres, `judge alerts of shard ${stores.clickhouse.shard}`, async () => {
    const last = await lastCheck(stores)
    if (!isDue(last, now)) return
    const isLate = !last || Math.abs(now - last.checkedAt) > maxPauseMs
    const watchedSince = isLate ? now : last.watchedSince
    const failures = await checkAlerts(stores, hours, { now, watchedSince }, options)
    await noteCheck(stores, { checkedAt: now, watchedSince })
    if (failures.length > 0) throw failures[0]
  })
}

const noteCheck = ({ postgres, clickhouse }: Stores, { checkedAt, watchedSince }: Check) => postgres`
  INSERT INTO alert_checks (shard, checked_at, watched_since)
  VALUES (${clickhouse.shard}, ${new Date(checkedAt)}, ${new Date(watchedSince)})
  ON CONFLICT (shard) DO UPDATE SET checked_at = excluded.checked_at, watched_since = excluded.watched_since`

/** Returns what went wrong with single alerts. Throws if none can be judged. */
async function checkAlerts(
  { postgres, clickhouse }: Stores,
  hours: Hours,
  { now, watchedSince }: { now: number; watchedSince: number },
  telling: Telling,
): Promise<unknown[]> {
  const alerts = await watchedAlerts(postgres, clickhouse.shard)
  const sites = sitesOf(alerts)
  await hours.read([...sites.values()], now)
  const localHours = new Map<string, number>()
  const failures: unknown[] = []
  for (const alert of alerts) {
    const site = sites.get(alert.siteId) as WatchedSite
    const localHour = localHours.get(alert.zone) ?? zoneClock(alert.zone, now).hourBefore(0).hour
    localHours.set(alert.zone, localHour)
    const change = judgeAlert(alert, site, hours, { now, watchedSince })
    if (!change && alert.isOn === alert.isTold) continue
    try {
      await noteChange(postgres, telling, alert, { change, now, localHour })
    } catch (error) {
      failures.push(error) // it is found again a minute later
    }
  }
  return failures
}

/** With what all alerts of a site need. */
function sitesOf(alerts: readonly WatchedAlert[]): Map<string, WatchedSite> {
  const sites = new Map<string, WatchedSite & { waits: Map<string, number> }>()
  for (const { siteId: id, condition, zone, excludedCountries, lastDayEvents } of alerts) {
    const site = sites.get(id) ?? { id, zone, excludedCountries, lastDayEvents, needsUsual: false, waits: new Map() }
    sites.set(id, site)
    if (condition.kind === 'rise' || condition.kind === 'drop') site.needsUsual = true
    const event = waitedFor(condition)
    if (event !== undefined) site.waits.set(event, Math.max(site.waits.get(event) ?? 0, condition.threshold))
  }
  return sites
}

const waitedFor = (condition: Alert['condition']): string | undefined =>
  condition.kind === 'missing' ? condition.event : condition.kind === 'silence' ? anyEvent : undefined

function judgeAlert(
  { condition, isOn, beganAt }: WatchedAlert,
  site: WatchedSite,
  hours: Hours,
  { now, watchedSince }: { now: number; watchedSince: number },
): Change | undefined {
  const whole = hours.whole(site, now)
  const current = hours.current(site, now)
  const event = waitedFor(condition)
  const seen: Seen = {
    now,
    watchedSince,
    current,
    whole: now >= current.start + settleMs && whole.start >= watchedSince ? whole : undefined,
    lastAt: event === undefined ? undefined : hours.lastAt(site, event),
    weeksOfHours: event === undefined ? undefined : hours.weeksOf(site, now, condition.threshold, event),
  }
  return judge(condition, isOn ? (beganAt?.getTime() ?? now) : undefined, seen)
}
