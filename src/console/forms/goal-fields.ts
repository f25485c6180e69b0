// A goal as fields of a form: its name, and an event or a path.
import { type EnteredCondition, maxGoalLength } from '../../accounts/goal-rules.ts'
import type { Goal } from '../../traffic/goals.ts'
import { type Html, html } from '../../web/html.ts'

/** Fields of the kind that is not chosen do not count: browsers send them, too. */
export function enteredCondition(form: URLSearchParams): EnteredCondition {
  if (form.get('kind') === 'path') return { pattern: form.get('path') ?? '' }
  const [key, value] = [form.get('property') ?? '', form.get('value') ?? '']
  const hasProperty = key.trim() !== '' || value.trim() !== ''
  return { event: form.get('event') ?? '', ...(hasProperty && { property: { key, value } }) }
}

/** What was typed; otherwise what is stored. The style sheet hides the fields of the other kind. */
export function goalFields(form: URLSearchParams, stored?: Goal): Html {
  const condition = stored?.condition
  const event = condition?.kind === 'event' ? condition : undefined
  const typed = form.has('name')
  const value = (name: string, storedValue: string | undefined) => (typed ? form.get(name) : storedValue) ?? ''
  const kind = value('kind', condition?.kind) === 'path' ? 'path' : 'event'
  const choice = (one: string, name: string) =>
    html`<label><input type="radio" name="kind" value="${one}"${one === kind && html` checked`}>${name}</label>`
  const text = (name: string, max: number, storedValue: string | undefined, placeholder: string) =>
    html`<input name="${name}" maxlength="${max}" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="${placeholder}" value="${value(name, storedValue)}">`
  return html`<label>Name <input name="name" required maxlength="${maxGoalLength.name}" autocomplete="off" placeholder="Signup" value="${value('name', stored?.name)}"></label>
  <fieldset class="choice goal-kind">
    <legend>Reached by</legend>
    <div class="options">${choice('event', 'An event')}${choice('path', 'A page')}</div>
    <div class="of-event">
      <label>Event ${text('event', maxGoalLength.event, event?.event, 'Signup')}<span class="hint">Its name as your pages send it, in the same upper and lower case.</span></label>
      <div class="goal-property">
        <label>Property ${text('property', maxGoalLength.propertyKey, event?.property?.key, 'plan')}</label>
        <label>Value ${text('value', maxGoalLength.propertyValue, event?.property?.value, 'pro')}</label>
        <p class="hint">Optional: only events that have this property with this value.</p>
      </div>
    </div>
    <div class="of-path">
      <label>Path ${text('path', maxGoalLength.pattern, condition?.kind === 'path' ? condition.pattern : undefined, '/blog/**')}<span class="hint"><code>*</code> stands for anything up to the next slash, <code>**</code> for anything. <code>/blog/**</code> is everything below <code>/blog</code>, and <code>/blog</code> itself.</span></label>
    </div>
  </fieldset>`
}
