// The lines at the end of a dashboard: what is left out, and of which moment its numbers are.
import { countryNames } from '../../traffic/country.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Moment } from './answers.ts'
import { glossary } from './numbers.ts'
import type { DashboardContext } from './state.ts'

const sentence = new Intl.ListFormat('en-GB')

export function note({ site }: DashboardContext, moment: Moment, changeExclusions: HtmlValue): Html {
  const names = site.excludedCountries.map((code) => countryNames[code])
  return html`<div class="end-of-page"><p class="note">${names.length > 0 && html`Without ${sentence.format(names)}${changeExclusions}. `}Days are counted in ${site.timeZone}. The numbers and all lists are what the API answers: the numbers as of ${numbersAt(moment)}, the lists as of ${timeOf(moment)}.</p>
${glossary}<div class="tools"><button class="quiet" type="button" data-copy-link hidden>Copy link</button><button class="quiet" type="button" data-help hidden>Shortcuts</button></div></div>`
}

/** Changes when the numbers do (moving.js). */
export const numbersAt = (moment: Moment): Html => html`<span id="numbers-at">${timeOf(moment)}</span>`

const timeOf = ({ local }: Moment): string => local.toPlainTime().toString({ smallestUnit: 'second' })
