// From an event or a page to a goal in two clicks: a link beside its row leads to the form, filled in, and the second click saves it.

import { maxGoalLength } from '../../accounts/goal-rules.ts'
import { pathText } from '../../display/formats.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { sitePath } from '../layout/layout.ts'
import { type DashboardState, fieldsOf, queryOf } from './state.ts'

/** Undefined if nobody may make this a goal, or it is one. */
export function newGoalAddress(state: DashboardState, dimension: string, value: string): string | undefined {
  const condition = state.isOwner ? conditionOf(dimension, value) : undefined
  if (!condition || isGoal(state, condition)) return undefined
  const name = freeName(state, dimension === 'page' ? `Visit ${pathText(value)}` : value)
  return formAddress(state, { name, ...condition })
}

export const emptyGoalAddress = (state: DashboardState): string => formAddress(state, {})

/** The form leads back to the dashboard as it is now. */
function formAddress(state: DashboardState, fields: Record<string, string>): string {
  const back = queryOf(fieldsOf(state, { more: undefined }))
  return `${sitePath(state.site, '/settings/goals/new')}?${new URLSearchParams({ ...fields, back })}`
}

/** As fields of the form. */
type Condition = { kind: 'event'; event: string } | { kind: 'path'; path: string }

/** A path with a star would be a pattern, and the row `(other)` is no page. */
function conditionOf(dimension: string, value: string): Condition | undefined {
  const isPlain = value !== '' && value === value.trim()
  if (dimension === 'event' && isPlain && value.length <= maxGoalLength.event) return { kind: 'event', event: value }
  const isPath = value.startsWith('/') && !value.includes('*') && value.length <= maxGoalLength.pattern
  return dimension === 'page' && isPlain && isPath ? { kind: 'path', path: value } : undefined
}

const isGoal = ({ site }: DashboardState, entered: Condition): boolean =>
  site.goals.some(({ condition }) =>
    condition.kind === 'event'
      ? entered.kind === 'event' && condition.event === entered.event && !condition.property
      : entered.kind === 'path' && condition.pattern === entered.path,
  )

/** Names of goals differ. */
function freeName({ site }: DashboardState, wanted: string): string {
  const names = new Set(site.goals.map(({ name }) => name))
  const cut = (end: string) => `${wanted.slice(0, maxGoalLength.name - end.length).trim()}${end}`
  for (let nth = 1; ; nth++) {
    const name = cut(nth === 1 ? '' : ` ${nth}`)
    if (!names.has(name)) return name
  }
}

/** Beside a row. `text` names the row. */
export const goalLink = (address: string | undefined, text: string): HtmlValue =>
  address !== undefined &&
  html`<a class="to-goal" href="${address}" aria-label="Make ${text} a goal" title="Make it a goal">${star}</a>`

const star: Html = html`<svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><path d="M7 1.5l1.7 3.5 3.8.5-2.8 2.7.7 3.8L7 10.2 3.6 12l.7-3.8L1.5 5.5l3.8-.5z"/></svg>`

/** Beside the chips, when they are about one event or one page: a finger has no room for it in a narrow row. */
export function goalOfFilters(state: DashboardState): HtmlValue {
  const [filter, ...more] = state.filters
  if (!filter || more.length > 0 || filter.operator !== 'is' || filter.values.length !== 1) return false
  const address = newGoalAddress(state, filter.dimension.name, filter.values[0] as string)
  return address !== undefined && html`<a class="of-filters" href="${address}">Make it a goal</a>`
}
