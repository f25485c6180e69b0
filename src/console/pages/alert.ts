// One alert of a site: change or remove it.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { sentenceOf } from '../../alerts/alert.ts'
import { type Alert, alertsOf } from '../../alerts/alerts.ts'
import { changeAlert, removeAlert } from '../../users/alert-changes.ts'
import { html } from '../../web/html.ts'
import { alertFields, enteredAlert } from '../forms/alert-fields.ts'
import { tokenField } from '../forms/forms.ts'
import { fault, layout, settingsHead } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { alertsPath } from './alerts.ts'

const path = '/sites/:domain/settings/alerts/:id'

export const alertRoutes: readonly Route[] = [
  { method: 'GET', path, access: 'site-owner', handle: async (visit) => alertPage(visit, await named(visit)) },
  { method: 'POST', path, access: 'site-owner', handle: saveAlert },
  { method: 'POST', path: `${path}/remove`, access: 'site-owner', handle: removeNamed },
]

async function named({ services, site, params }: SiteVisit): Promise<Alert> {
  const alert = (await alertsOf(services.postgres, site.id)).find(({ id }) => id === params.id)
  if (!alert) throw new Refusal('not_found')
  return alert
}

async function saveAlert(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const alert = await named(visit)
  try {
    await changeAlert(services.postgres, actor, site, alert, enteredAlert(form))
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return alertPage(visit, alert, `${error.message} ${error.advice}`)
  }
  return goTo(alertsPath(visit, '?done=changed'))
}

async function removeNamed(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site } = visit
  await removeAlert(services.postgres, actor, site, await named(visit))
  return goTo(alertsPath(visit, '?done=removed'))
}

function alertPage(visit: SiteVisit, alert: Alert, wrong?: string): Reply {
  const { site, form, formToken } = visit
  const body = html`${settingsHead(site, '/settings/alerts')}
<p class="back"><a href="${alertsPath(visit)}"><span aria-hidden="true">← </span>All alerts</a></p>
<h2 class="key-name">${sentenceOf(alert.condition)}</h2>
${wrong && fault(wrong)}
<form class="card form people-form alert-form" method="post" action="${alertsPath(visit, `/${alert.id}`)}">
  ${tokenField(formToken)}
  ${alertFields(form, alert)}
  <p class="hint">A changed alert begins anew. If it is on, nobody is told that it is over.</p>
  <div class="row"><button class="button first">Save alert</button><a class="button" href="${alertsPath(visit)}">Cancel</a></div>
</form>`
  return show(layout({ title: `Alert · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}
