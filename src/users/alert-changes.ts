// Changes of alerts by people, each together with its entry in the audit log.
import type { Site } from '../accounts/sites.ts'
import { type AlertSettings, settingsText } from '../alerts/alert.ts'
import { type Alert, createAlert, deleteAlert, replaceAlert } from '../alerts/alerts.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Actor } from './audit-log.ts'
import { changeOfSite } from './change-of-site.ts'

/** Throws `InvalidSetting` if the site has too many alerts. The same form adds one once. */
export const addAlert = (
  postgres: Postgres,
  actor: Actor,
  site: Site,
  settings: AlertSettings,
  nonce: string,
): Promise<void> =>
  changeOfSite(postgres, actor, site, {
    action: 'alert.created',
    details: settingsText(settings),
    apply: (transaction) => createAlert(transaction, { ...settings, siteId: site.id, createdBy: actor.actor, nonce }),
  })

/** Does nothing if the alert stays the same, so that it does not begin anew and the log has only real changes. */
export async function changeAlert(
  postgres: Postgres,
  actor: Actor,
  site: Site,
  alert: Alert,
  settings: AlertSettings,
): Promise<void> {
  const [from, to] = [settingsText(alert), settingsText(settings)]
  if (from === to) return
  await changeOfSite(postgres, actor, site, {
    action: 'alert.changed',
    details: `${from} → ${to}`,
    apply: (transaction) => replaceAlert(transaction, site.id, alert.id, settings),
  })
}

/** Nobody is told that it is over. */
export const removeAlert = (postgres: Postgres, actor: Actor, site: Site, alert: Alert): Promise<void> =>
  changeOfSite(postgres, actor, site, {
    action: 'alert.deleted',
    details: settingsText(alert),
    apply: (transaction) => deleteAlert(transaction, site.id, alert.id),
  })
