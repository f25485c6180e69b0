// The stored alerts of sites: reading them for people and for the loop, and writing them. src/users/alert-changes.ts changes them for people.
import { derivedId } from '../accounts/ids.ts'
import { InvalidSetting } from '../accounts/site-rules.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { AlertSettings, Condition, Kind, MailTarget } from './alert.ts'
import type { Numbers } from './judging.ts'

const maxAlerts = 20

export interface Alert extends AlertSettings {
  id: string
  createdBy: string
  createdAt: Date
  version: number
  isOn: boolean
  /** Whether the last message said that it began. */
  isTold: boolean
  beganAt: Date | null
  overAt: Date | null
  beganWith: Numbers | null
  overWith: Numbers | null
}

/** An alert that is judged, with its site. */
export interface WatchedAlert extends Alert {
  siteId: string
  accountId: string
  domain: string
  zone: string
  excludedCountries: readonly string[]
  lastDayEvents: number
}

interface AlertRow extends Omit<Alert, keyof AlertSettings | 'beganWith' | 'overWith'> {
  kind: Kind
  threshold: number
  minUsual: number | null
  event: string | null
  mailTo: MailTarget
  toWebhooks: boolean
  quietFrom: number | null
  quietUntil: number | null
  beganWith: string | null
  overWith: string | null
}

const columns = (postgres: Postgres) => postgres`
  alerts.id, kind, threshold, min_usual AS "minUsual", event, mail_to AS "mailTo", to_webhooks AS "toWebhooks", quiet_from AS "quietFrom",
  quiet_until AS "quietUntil", created_by AS "createdBy", alerts.created_at AS "createdAt", version, is_on AS "isOn", is_told AS "isTold",
  began_at AS "beganAt", over_at AS "overAt", began_with::text AS "beganWith", over_with::text AS "overWith"`

function alertOf<Row extends AlertRow>(row: Row) {
  const { kind, threshold, minUsual, event, quietFrom, quietUntil, beganWith, overWith, ...rest } = row
  const quiet = quietFrom === null || quietUntil === null ? undefined : { from: quietFrom, until: quietUntil }
  const condition = {
    kind,
    threshold,
    ...(minUsual !== null && { minUsual }),
    ...(event !== null && { event }),
  } as Condition
  const numbers = (text: string | null) => text && (JSON.parse(text) as Numbers)
  return { ...rest, condition, quiet, beganWith: numbers(beganWith), overWith: numbers(overWith) }
}

/** Oldest first. */
export async function alertsOf(postgres: Postgres, siteId: string): Promise<Alert[]> {
  const rows = await postgres<AlertRow[]>`
    SELECT ${columns(postgres)} FROM alerts WHERE site_id = ${siteId} ORDER BY alerts.created_at, id`
  return rows.map((row) => alertOf(row) as Alert)
}

/** Of all sites on a shard, without sites that move: their events are held back meanwhile (decision D-203). */
export async function watchedAlerts(postgres: Postgres, shard: number): Promise<WatchedAlert[]> {
  const rows = await postgres<(AlertRow & Omit<WatchedAlert, keyof Alert>)[]>`
    SELECT ${columns(postgres)}, alerts.site_id AS "siteId", account_id AS "accountId", domain, time_zone AS zone,
      excluded_countries AS "excludedCountries", coalesce(last_day_events, 0) AS "lastDayEvents"
    FROM alerts JOIN sites ON sites.id = alerts.site_id LEFT JOIN rollup_state ON rollup_state.site_id = sites.id
    WHERE shard = ${shard} AND NOT EXISTS (SELECT FROM site_moves WHERE site_moves.site_id = sites.id AND hold IS NOT NULL)
    ORDER BY sites.id, alerts.id`
  return rows.map((row) => alertOf(row) as WatchedAlert)
}

export interface NewAlert extends AlertSettings {
  siteId: string
  createdBy: string
  /** Of the form: the same form makes no second one. */
  nonce: string
}

/** False: the form has made one already. Call it in a transaction. */
export async function createAlert(transaction: Postgres, alert: NewAlert): Promise<boolean> {
  const { siteId, createdBy, nonce } = alert
  const id = derivedId('alert', `${siteId} ${nonce}`)
  // The site's row is locked, so that two forms at the same time do not both make the last one.
  const [site] = await transaction<[{ alerts: number }?]>`
    SELECT (SELECT count(*)::int FROM alerts WHERE site_id = sites.id) AS alerts FROM sites WHERE id = ${siteId} FOR NO KEY UPDATE`
  if (!site) throw new InvalidSetting('The site was deleted.', 'Choose another site.')
  const { count } = await transaction`
    INSERT INTO alerts ${transaction({ id, site_id: siteId, created_by: createdBy, ...stored(alert) })} ON CONFLICT DO NOTHING`
  if (count > 0 && site.alerts >= maxAlerts)
    throw new InvalidSetting(`A site has at most ${maxAlerts} alerts.`, 'Remove one that nobody needs any more.')
  return count > 0
}

/** The alert begins anew: what it said before was about something else. False: it is gone. */
export async function replaceAlert(
  transaction: Postgres,
  siteId: string,
  id: string,
  settings: AlertSettings,
): Promise<boolean> {
  const { count } = await transaction`
    UPDATE alerts SET ${transaction(stored(settings))}, version = version + 1, is_on = false, is_told = false,
      began_at = NULL, over_at = NULL, began_with = NULL, over_with = NULL
    WHERE id = ${id} AND site_id = ${siteId}`
  return count > 0
}

/** False: it is gone already. */
export async function deleteAlert(transaction: Postgres, siteId: string, id: string): Promise<boolean> {
  const { count } = await transaction`DELETE FROM alerts WHERE id = ${id} AND site_id = ${siteId}`
  return count > 0
}

const stored = ({ condition, mailTo, toWebhooks, quiet }: AlertSettings) => ({
  kind: condition.kind,
  threshold: condition.threshold,
  min_usual: condition.kind === 'many' ? null : condition.minUsual,
  event: condition.kind === 'missing' ? condition.event : null,
  mail_to: mailTo,
  to_webhooks: toWebhooks,
  quiet_from: quiet?.from ?? null,
  quiet_until: quiet?.until ?? null,
})
