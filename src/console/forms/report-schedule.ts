// When a report is sent, as fields of a form.
import { InvalidSetting, timeZoneOf } from '../../accounts/site-rules.ts'
import type { Subscription } from '../../email-reports/subscriptions.ts'
import { type Html, html } from '../../web/html.ts'
import { timeZoneField } from './time-zone-field.ts'

type Schedule = Pick<Subscription, 'hour' | 'timeZone'>

const hours = Array.from({ length: 24 }, (_, hour) => hour)
const defaultHour = 8

/** Throws `InvalidSetting`. */
export function scheduleOf(form: URLSearchParams): Schedule {
  const hour = hours.find((one) => String(one) === form.get('hour'))
  if (hour === undefined) throw new InvalidSetting('This is not an hour.', 'Choose one from 0:00 to 23:00.')
  return { hour, timeZone: timeZoneOf(form.get('zone') ?? '') }
}

/** What was typed; otherwise what is stored; otherwise eight o'clock where the browser is. */
export function scheduleFields(form: URLSearchParams, stored?: Schedule): Html {
  const chosen = form.get('hour') ?? String(stored?.hour ?? defaultHour)
  const zone = form.get('zone') ?? stored?.timeZone
  return html`<label>Hour <select name="hour">${hours.map(
    (hour) => html`<option value="${hour}"${String(hour) === chosen && html` selected`}>${hour}:00</option>`,
  )}</select></label>
  <div>${timeZoneField({ value: zone ?? 'UTC', isDefault: zone === undefined })}</div>`
}
