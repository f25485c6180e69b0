// The lines at the end of a dashboard: what is left out, and of which moment its numbers are.
import { counted, inFull, shortDay } from '../../display/formats.ts'
import type { RecountedSite } from '../../recounting/rounds.ts'
import { countryNames } from '../../traffic/country.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Moment } from './answers.ts'
import { glossary } from './numbers.ts'
import type { DashboardContext } from './state.ts'

interface NoteParts {
  changeExclusions: HtmlValue
  /** Empty: nothing was recounted yet. */
  recounted: string
}

const sentence = new Intl.ListFormat('en-GB')

/** How many answers of the site were recounted from events (D-247), in the site's time zone. */
export function recountedText(recounted: RecountedSite | undefined, { local }: Moment): string {
  if (!recounted) return ''
  const { answers, differences, open, since } = recounted
  const day = Temporal.Instant.fromEpochMilliseconds(since.getTime()).toZonedDateTimeISO(local.timeZoneId).toPlainDate()
  const what = `${counted(answers, 'answer')} of this site ${answers === 1 ? 'was' : 'were'} recounted from raw events since ${shortDay(day, local.year)}`
  if (differences === 0) return `${what}; none differed.`
  return `${what}; ${inFull(differences)} differed and ${open > 0 ? `${inFull(open)} still ${open === 1 ? 'does' : 'do'}: it is being repaired` : `${differences === 1 ? 'was' : 'were'} repaired`}.`
}

export function note({ site }: DashboardContext, moment: Moment, { changeExclusions, recounted }: NoteParts): Html {
  const names = site.excludedCountries.map((code) => countryNames[code])
  return html`<div class="end-of-page"><p class="note">${names.length > 0 && html`Without ${sentence.format(names)}${changeExclusions}. `}Days are counted in ${site.timeZone}. The numbers and all lists are what the API answers: the numbers as of ${numbersAt(moment)}, the lists as of ${timeOf(moment)}.${recounted && ` ${recounted}`}</p>
${glossary}<div class="tools"><button class="quiet" type="button" data-copy-link hidden>Copy link</button><button class="quiet" type="button" data-help hidden>Shortcuts</button></div></div>`
}

/** Changes when the numbers do (moving.js). */
export const numbersAt = (moment: Moment): Html => html`<span id="numbers-at">${timeOf(moment)}</span>`

const timeOf = ({ local }: Moment): string => local.toPlainTime().toString({ smallestUnit: 'second' })
