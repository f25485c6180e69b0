// Goals in the settings of a site: the list, adding one, and removing one. goal.ts changes one.
import { goalOf } from '../../accounts/goal-rules.ts'
import { InvalidSetting } from '../../accounts/site-rules.ts'
import type { Site } from '../../accounts/sites.ts'
import type { Goal, GoalCondition } from '../../traffic/goals.ts'
import { addGoal, removeGoal } from '../../users/goal-changes.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { enteredCondition, goalFields } from '../forms/goal-fields.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const goalsRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings/goals', access: 'site-member', handle: (visit) => goalsPage(visit) },
  {
    method: 'GET',
    path: '/sites/:domain/settings/goals/new',
    access: 'site-owner',
    handle: (visit) => newGoalPage(visit, visit.query),
  },
  { method: 'POST', path: '/sites/:domain/settings/goals', access: 'site-owner', handle: createGoal },
  { method: 'POST', path: '/sites/:domain/settings/goals/remove', access: 'site-owner', handle: deleteGoal },
]

const done = new Map([
  ['added', 'The goal is added. It counts for past days, too.'],
  ['changed', 'The goal is changed, also for past days.'],
  ['removed', 'The goal is removed. Add it again, and its numbers are back.'],
])

/** An address below the list. */
export const goalsPath = ({ site }: SiteVisit, rest = ''): string => sitePath(site, `/settings/goals${rest}`)

/** The goal that the request names. */
export function namedGoal({ site }: SiteVisit, name: string | null): Goal {
  const goal = site.goals.find((one) => one.name === name)
  if (!goal) throw new Refusal('not_found')
  return goal
}

/** Who came from a dashboard returns to it, and its chart shows the conversions. */
async function createGoal(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const back = form.get('back') ?? ''
  try {
    const goal = goalOf(form.get('name') ?? '', enteredCondition(form))
    await addGoal(services.postgres, actor, site, goal)
    services.directory.forget(site.id)
    return goTo(back === '' ? goalsPath(visit, '?done=added') : chartOf(site, back, goal))
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    const wrong = `${error.message} ${error.advice}`
    return back === '' ? goalsPage(visit, wrong) : newGoalPage(visit, form, wrong)
  }
}

function chartOf(site: Site, back: string, { name }: Goal): string {
  const fields = new URLSearchParams(back)
  fields.set('metric', 'conversions')
  fields.set('goal', name)
  return `${sitePath(site)}?${String(fields)}`
}

async function deleteGoal(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const { name } = namedGoal(visit, form.get('goal'))
  try {
    await removeGoal(services.postgres, actor, site, name)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return goalsPage(visit, `${error.message} ${error.advice}`)
  }
  services.directory.forget(site.id)
  return goTo(goalsPath(visit, '?done=removed'))
}

const isOwner = ({ account }: SiteVisit): boolean => account.role === 'owner'

function goalsPage(visit: SiteVisit, wrong?: string): Reply {
  const { site, query, account } = visit
  const { goals } = site
  const message = wrong ? undefined : done.get(query.get('done') ?? '')
  const body = html`${settingsHead(site, '/settings/goals')}
${message && notice(message)}${wrong && fault(wrong)}
<p class="lead">A goal is an event or a page that you want visitors to reach. The API counts who reached it, also on past days: nothing is recorded for a goal.</p>
${goals.length > 0 ? goalTable(visit) : html`<p class="card padded no-reports">${site.domain} has no goals yet.</p>`}
${isOwner(visit) ? goalForm(visit) : html`<p class="note">Owners of ${account.name} can change the goals.</p>`}`
  return show(layout({ title: `Goals of ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}

const goalTable = (visit: SiteVisit): Html => html`
<section aria-labelledby="goals"><h2 id="goals">${visit.site.goals.length === 1 ? '1 goal' : `${visit.site.goals.length} goals`}</h2>
<div class="card"><table class="people reports">
<thead><tr><th scope="col">Name</th><th scope="col">Reached by</th>${isOwner(visit) && html`<th scope="col"><span class="unseen">Change</span></th>`}</tr></thead>
<tbody>${visit.site.goals.map((goal) => goalRow(visit, goal))}</tbody></table></div></section>`

function goalRow(visit: SiteVisit, { name, condition }: Goal): Html {
  const named = html`<span class="unseen"> the goal ${name}</span>`
  const query = new URLSearchParams({ goal: name })
  return html`<tr><th scope="row">${name}</th>
<td>${conditionOf(condition)}</td>${
    isOwner(visit) &&
    html`
<td class="right"><div class="reports-buttons"><a class="button small" href="${goalsPath(visit, `/change?${query.toString()}`)}">Change${named}</a>
<form method="post" action="${goalsPath(visit, '/remove')}">${tokenField(visit.formToken)}<input type="hidden" name="goal" value="${name}"><button class="button small danger">Remove${named}</button></form></div></td>`
  }</tr>`
}

function conditionOf(condition: GoalCondition): Html {
  if (condition.kind === 'path') return html`Page <code>${condition.pattern}</code>`
  const { event, property } = condition
  return html`Event <code>${event}</code>${property && html` with <code>${property.key}</code> = <code>${property.value}</code>`}`
}

const goalForm = (visit: SiteVisit): Html => html`
<section aria-labelledby="add"><h2 id="add">Add a goal</h2>
<form class="card form people-form" method="post" action="${goalsPath(visit)}">
  ${tokenField(visit.formToken)}${goalFields(visit.form)}
  <div><button class="button first">Add goal</button></div>
</form></section>`

/** One click from saving it: `sent` is what the dashboard filled in, or what the form sent. */
function newGoalPage(visit: SiteVisit, sent: URLSearchParams, wrong?: string): Reply {
  const { site, formToken } = visit
  const back = sent.get('back') ?? ''
  const cancel = back === '' ? goalsPath(visit) : `${sitePath(site)}?${new URLSearchParams(back)}`
  const body = html`${settingsHead(site, '/settings/goals')}
<p class="back"><a href="${goalsPath(visit)}"><span aria-hidden="true">← </span>All goals</a></p>
<h2>Add a goal</h2>
${wrong && fault(wrong)}
<form class="card form people-form" method="post" action="${goalsPath(visit)}">
  ${tokenField(formToken)}<input type="hidden" name="back" value="${back}">${goalFields(sent)}
  <p class="hint">It counts for past days, too.</p>
  <div class="row"><button class="button first">Add goal</button><a class="button" href="${cancel}">Cancel</a></div>
</form>`
  return show(layout({ title: `Add a goal · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}
