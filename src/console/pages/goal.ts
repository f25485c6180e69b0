// One goal of a site: change its name or what reaches it.
import { goalOf } from '../../accounts/goal-rules.ts'
import { InvalidSetting } from '../../accounts/site-rules.ts'
import type { Goal } from '../../traffic/goals.ts'
import { changeGoal } from '../../users/goal-changes.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { enteredCondition, goalFields } from '../forms/goal-fields.ts'
import { fault, layout, settingsHead } from '../layout/layout.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { goalsPath, namedGoal } from './goals.ts'

/** The name of a goal is any text, so it is a parameter and no part of the path. */
export const goalRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/goals/change',
    access: 'site-owner',
    handle: (visit) => goalPage(visit, namedGoal(visit, visit.query.get('goal'))),
  },
  { method: 'POST', path: '/sites/:domain/settings/goals/change', access: 'site-owner', handle: saveGoal },
]

async function saveGoal(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const goal = namedGoal(visit, form.get('goal'))
  try {
    const changed = goalOf(form.get('name') ?? '', enteredCondition(form))
    await changeGoal(services.postgres, actor, site, goal.name, changed)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return goalPage(visit, goal, `${error.message} ${error.advice}`)
  }
  services.directory.forget(site.id)
  return goTo(goalsPath(visit, '?done=changed'))
}

function goalPage(visit: SiteVisit, goal: Goal, wrong?: string): Reply {
  const { site, form, formToken } = visit
  const body = html`${settingsHead(site, '/settings/goals')}
<p class="back"><a href="${goalsPath(visit)}"><span aria-hidden="true">← </span>All goals</a></p>
<h2 class="key-name">${goal.name}</h2>
${wrong && fault(wrong)}
<form class="card form people-form" method="post" action="${goalsPath(visit, '/change')}">
  ${tokenField(formToken)}<input type="hidden" name="goal" value="${goal.name}">
  ${goalFields(form, goal)}
  <p class="hint">A change holds for past days, too.</p>
  <div class="row"><button class="button first">Save goal</button><a class="button" href="${goalsPath(visit)}">Cancel</a></div>
</form>`
  return show(layout({ title: `${goal.name} · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}
