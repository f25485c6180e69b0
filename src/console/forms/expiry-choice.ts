// When a key or a shared link expires, as a choice in forms: after some days, on a date, or never.
import { dayMs } from '../../durations.ts'
import { type Html, html } from '../../web/html.ts'

interface ExpiryOf {
  what: 'key' | 'link'
  days: readonly number[]
}

export const expiryOfKey: ExpiryOf = { what: 'key', days: [30, 90, 365] }
export const expiryOfLink: ExpiryOf = { what: 'link', days: [7, 30, 90] }

type Chosen = { expiresAt: Date | null } | { wrong: string }

export function chosenExpiry(form: URLSearchParams, now: number, { what, days }: ExpiryOf): Chosen {
  const choice = form.get('expiry')
  if (choice === 'never') return { expiresAt: null }
  const chosenDays = days.find((count) => String(count) === choice)
  if (chosenDays !== undefined) return { expiresAt: new Date(now + chosenDays * dayMs) }
  if (choice !== 'date') return { wrong: `Choose when the ${what} expires.` }
  const date = form.get('date') ?? ''
  const expiresAt = new Date(`${date}T00:00:00Z`)
  if (
    !/^\d{4}-\d\d-\d\d$/.test(date) ||
    Number.isNaN(expiresAt.getTime()) ||
    !expiresAt.toISOString().startsWith(date)
  ) {
    return { wrong: `Enter the date on which the ${what} expires, such as 2027-01-31.` }
  }
  if (expiresAt.getTime() <= now) return { wrong: 'That date is in the past. Choose a later one.' }
  return { expiresAt }
}

/** The date field appears when `On a date` is chosen. */
export function expiryChoice(
  form: URLSearchParams,
  now: number,
  { what, days }: ExpiryOf,
  { legend, standard }: { legend: string; standard: string },
): Html {
  const chosen = form.get('expiry') ?? standard
  const tomorrow = new Date(now + dayMs).toISOString().slice(0, 10)
  const choices = [
    ...days.map((count) => [String(count), `In ${count} days`] as const),
    ['date', 'On a date'] as const,
    ['never', 'Never'] as const,
  ]
  return html`<fieldset class="choice">
  <legend>${legend}</legend>
  <div class="options">${choices.map(
    ([value, name]) =>
      html`<label><input type="radio" name="expiry" value="${value}"${value === chosen && html` checked`}>${name}</label>`,
  )}</div>
  <label class="on-date">Date <input type="date" name="date" min="${tomorrow}" max="9999-12-31" value="${form.get('date') ?? ''}"><span class="hint">The ${what} works until the day begins, at 00:00 UTC.</span></label>
</fieldset>`
}
