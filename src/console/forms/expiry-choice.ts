// When a key or a shared link expires, as a choice in forms: after some days, on a date, or never.
import { dayMs } from '../../durations.ts'
import { type Html, html } from '../../web/html.ts'

interface ExpiryOf {
  what: 'key' | 'link'
  days: readonly number[]
  /** The fields of the form. */
  field: string
  dateField: string
}

const fields = { field: 'expiry', dateField: 'date' } as const

export const expiryOfKey: ExpiryOf = { what: 'key', days: [30, 90, 365], ...fields }
export const expiryOfLink: ExpiryOf = { what: 'link', days: [7, 30, 90], ...fields }
/** Fields of its own: a form shows one choice or the other. */
export const expiryOfEmbeddedLink: ExpiryOf = {
  what: 'link',
  days: [],
  field: 'embedded-expiry',
  dateField: 'embedded-date',
}

type Chosen = { expiresAt: Date | null } | { wrong: string }

export function chosenExpiry(form: URLSearchParams, now: number, { what, days, field, dateField }: ExpiryOf): Chosen {
  const choice = form.get(field)
  if (choice === 'never') return { expiresAt: null }
  const chosenDays = days.find((count) => String(count) === choice)
  if (chosenDays !== undefined) return { expiresAt: new Date(now + chosenDays * dayMs) }
  if (choice !== 'date') return { wrong: `Choose when the ${what} expires.` }
  const date = form.get(dateField) ?? ''
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
  { what, days, field, dateField }: ExpiryOf,
  { legend, standard, when }: { legend: string; standard: string; when?: 'when-opened' | 'when-embedded' },
): Html {
  const chosen = form.get(field) ?? standard
  const tomorrow = new Date(now + dayMs).toISOString().slice(0, 10)
  const choices = [
    ...days.map((count) => [String(count), `In ${count} days`] as const),
    ['date', 'On a date'] as const,
    ['never', 'Never'] as const,
  ]
  return html`<fieldset class="choice ${when}">
  <legend>${legend}</legend>
  <div class="options">${choices.map(
    ([value, name]) =>
      html`<label><input type="radio" name="${field}" value="${value}"${value === chosen && html` checked`}>${name}</label>`,
  )}</div>
  <label class="on-date">Date <input type="date" name="${dateField}" min="${tomorrow}" max="9999-12-31" value="${form.get(dateField) ?? ''}"><span class="hint">The ${what} works until the day begins, at 00:00 UTC.</span></label>
</fieldset>`
}
