// The fields of an alert: each kind is a sentence with its numbers in it.

import { maxGoalLength } from '../../accounts/goal-rules.ts'
import { InvalidSetting } from '../../accounts/site-rules.ts'
import {
  type AlertSettings,
  allKinds,
  conditionOf,
  type Kind,
  kinds,
  type MailTarget,
  mailTargets,
  type QuietHours,
} from '../../alerts/alert.ts'
import { type Html, html } from '../../web/html.ts'

export const mailTargetNames: Readonly<Record<MailTarget, string>> = {
  owners: 'the owners',
  members: 'all members',
  nobody: 'nobody',
}

const hours = Array.from({ length: 24 }, (_, hour) => hour)

/** Throws `InvalidSetting`. */
export function enteredAlert(form: URLSearchParams): AlertSettings {
  const kind = form.get('kind') ?? ''
  const field = (name: string) => form.get(`${kind}_${name}`) ?? ''
  const condition = conditionOf({
    kind,
    threshold: field('threshold'),
    minUsual: field('usual'),
    event: field('event'),
  })
  const mailTo = mailTargets.find((one) => one === form.get('mail'))
  if (!mailTo) throw new InvalidSetting('Who gets mail is missing.', 'Choose the owners, all members or nobody.')
  return { condition, mailTo, toWebhooks: form.has('webhooks'), quiet: quietOf(form) }
}

function quietOf(form: URLSearchParams): QuietHours | undefined {
  const [from, until] = ['quiet_from', 'quiet_until'].map((name) => form.get(name) ?? '') as [string, string]
  if (from === '' && until === '') return undefined
  const [first, last] = [from, until].map((text) => hours.find((hour) => String(hour) === text))
  if (first === undefined || last === undefined || first === last)
    throw new InvalidSetting('Quiet hours need a begin and another end.', 'Choose both, or none of them.')
  return { from: first, until: last }
}

/** What was typed; otherwise what is stored; otherwise the defaults. */
export function alertFields(form: URLSearchParams, stored?: AlertSettings): Html {
  const isSent = form.has('kind')
  const kind = form.get('kind') ?? stored?.condition.kind ?? 'silence'
  const mailTo = form.get('mail') ?? stored?.mailTo ?? 'owners'
  const toWebhooks = isSent ? form.has('webhooks') : (stored?.toWebhooks ?? true)
  const quiet = (name: 'from' | 'until') => form.get(`quiet_${name}`) ?? String(stored?.quiet?.[name] ?? '')
  return html`<fieldset class="choice alert-kinds"><legend>Tell when there is</legend>
  ${allKinds.map((one) => kindField(one, { form, stored, isChosen: one === kind }))}</fieldset>
  <p class="hint">Usual is the median of the same hour, or the same hours, in the last four weeks. A site with less than the usual number here is not judged.</p>
  <label>Mail to <select name="mail">${mailTargets.map((one) => option(one, mailTargetNames[one], mailTo))}</select></label>
  <label class="check"><input type="checkbox" name="webhooks" value="yes"${toWebhooks && html` checked`}>Call the webhooks of the site</label>
  <div class="quiet-hours" role="group" aria-label="Quiet hours"><label>Quiet from <select name="quiet_from">${hourOptions(quiet('from'))}</select></label>
  <label>until <select name="quiet_until">${hourOptions(quiet('until'))}</select></label></div>
  <p class="hint">Nothing is sent in quiet hours, on the clock of the site. You are told after them, if it still goes on.</p>`
}

interface KindField {
  form: URLSearchParams
  stored: AlertSettings | undefined
  isChosen: boolean
}

function kindField(kind: Kind, { form, stored, isChosen }: KindField): Html {
  const rules = kinds[kind]
  const condition = stored?.condition.kind === kind ? stored.condition : undefined
  const number = (name: 'threshold' | 'usual', label: string, value: number, max: number): Html =>
    html`<input name="${kind}_${name}" type="number" inputmode="numeric" min="1" max="${max}" aria-label="${label}" value="${form.get(`${kind}_${name}`) ?? value}">`
  const { threshold, minUsual } = rules
  const storedUsual = condition && 'minUsual' in condition ? condition.minUsual : minUsual?.default
  const first = number('threshold', threshold.name, condition?.threshold ?? threshold.default, threshold.max)
  const second = number('usual', minUsual?.name ?? '', storedUsual ?? 1, 1_000_000)
  const storedEvent = condition?.kind === 'missing' ? condition.event : ''
  const event = html`<input name="missing_event" aria-label="Name of the event" maxlength="${maxGoalLength.event}" autocomplete="off" placeholder="Signup" value="${form.get('missing_event') ?? storedEvent}">`
  const sentences: Readonly<Record<Kind, [begin: string, rest: Html]>> = {
    many: ['more than', html`${first} visitors in an hour`],
    rise: ['more than', html`${first} times the usual visitors of the hour, if at least ${second}`],
    drop: ['less than', html`${first} % of the usual visitors of the hour, if at least ${second}`],
    silence: ['no event', html`for ${first} hours, if usually at least ${second} visitors come in them`],
    missing: ['no', html`${event} for ${first} hours, if usually at least ${second} come in them`],
  }
  const [begin, rest] = sentences[kind]
  return html`<div class="alert-kind"><label><input type="radio" name="kind" value="${kind}" required aria-label="${begin}: ${rules.name}"${isChosen && html` checked`}>${begin}</label> ${rest}</div>
  `
}

const option = (value: string, name: string, chosen: string): Html =>
  html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`

const hourOptions = (chosen: string): Html[] => [
  option('', 'never', chosen),
  ...hours.map((hour) => option(String(hour), `${hour}:00`, chosen)),
]
