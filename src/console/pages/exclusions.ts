import { countriesOf, InvalidSetting } from '../../accounts/site-rules.ts'
import type { Site } from '../../accounts/sites.ts'
import { inFull } from '../../display/formats.ts'
import { rangeTexts } from '../../display/ranges.ts'
import { hiddenByExclusions, textOfDays } from '../../rollups/imported-days.ts'
import { deadlineFactor } from '../../stores/deadline.ts'
import { type CountryCode, countryNames, isCountryCode } from '../../traffic/country.ts'
import { changeExcludedCountries } from '../../users/site-changes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { siteScript } from '../layout/assets.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const exclusionsRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings/exclusions', access: 'site-member', handle: showExclusions },
  { method: 'POST', path: '/sites/:domain/settings/exclusions', access: 'site-owner', handle: saveExclusions },
  { method: 'POST', path: '/sites/:domain/settings/exclusions/preview', access: 'site-owner', handle: preview },
]

async function showExclusions(visit: SiteVisit): Promise<Reply> {
  const { site, account } = visit
  if (account.role !== 'owner') return show(readOnlyPage(visit))
  const done = visit.query.get('saved') === 'yes' && notice(`Saved. ${sentenceOf(site.excludedCountries)}`)
  return show(await exclusionsPage(visit, site.excludedCountries, done || undefined))
}

async function saveExclusions(visit: SiteVisit): Promise<Reply> {
  const { services, site } = visit
  const chosen = chosenIn(visit)
  if (chosen instanceof InvalidSetting) return showMistake(visit, chosen)
  await changeExcludedCountries(services.postgres, visit.actor, site, chosen, services.now())
  services.directory.forget(site.id)
  return goTo(sitePath(site, '/settings/exclusions?saved=yes'))
}

/** Shows the same form with the numbers after saving. Changes nothing. */
async function preview(visit: SiteVisit): Promise<Reply> {
  const chosen = chosenIn(visit)
  return chosen instanceof InvalidSetting ? showMistake(visit, chosen) : show(await exclusionsPage(visit, chosen))
}

function chosenIn({ form }: SiteVisit): CountryCode[] | InvalidSetting {
  try {
    return countriesOf(form.getAll('country'))
  } catch (error) {
    if (error instanceof InvalidSetting) return error
    throw error
  }
}

async function showMistake(visit: SiteVisit, { message, advice }: InvalidSetting): Promise<Reply> {
  const countries = [...new Set(visit.form.getAll('country').filter(isCountryCode))]
  return show(await exclusionsPage(visit, countries, fault(`${message} ${advice}`)), 422)
}

/** `Every report now leaves out China and Russia, also for past days.` */
const sentenceOf = (countries: readonly CountryCode[]): string =>
  countries.length === 0
    ? 'Every report counts every country.'
    : `Every report leaves out ${listOf(countries)}, also for past days.`

const inWords = new Intl.ListFormat('en')
const listOf = (countries: readonly CountryCode[]): string =>
  inWords.format(countries.map((code) => countryNames[code]).sort(byName))

const byName = (one: string, other: string): number => one.localeCompare(other, 'en')

const lead = html`<p class="lead">Visitors from these countries are left out of every report and every API answer. Numbers of past days change too. Nothing is deleted: take a country off the list, and its visitors are back.</p>`

const readOnlyPage = (visit: SiteVisit): Html =>
  layout({
    title: `Excluded countries of ${visit.site.domain}`,
    visit,
    site: visit.site,
    body: html`${settingsHead(visit.site, '/settings/exclusions')}
${lead}
<p class="card padded">${sentenceOf(visit.site.excludedCountries)}</p>
<p class="note">Owners of ${visit.account.name} can change the list.</p>`,
  })

async function exclusionsPage(visit: SiteVisit, chosen: readonly CountryCode[], message?: Html): Promise<Html> {
  const { site, formToken } = visit
  const action = sitePath(site, '/settings/exclusions')
  return layout({
    title: `Excluded countries of ${site.domain}`,
    visit,
    site,
    head: html`<script type="module" src="${siteScript.path}"></script>\n`,
    body: html`${settingsHead(site, '/settings/exclusions')}
${message}
${lead}
<form class="exclusions" method="post" action="${action}" data-preview="${action}/preview">
  ${tokenField(formToken)}
  <fieldset class="card countries">
    <legend class="unseen">Countries to leave out</legend>
    <div class="scripted countries-search"><label class="unseen" for="find">Find a country</label>
      <input id="find" type="search" placeholder="Find a country" autocomplete="off" data-filter="countries"></div>
    <div class="countries-list" id="countries">${countryGroups([...site.excludedCountries, ...chosen], new Set(chosen))}
      <p class="no-match" hidden>No country matches.</p></div>
  </fieldset>
  <div class="countries-side">
    ${await previewPart(visit, chosen)}
    <div class="row"><button class="button first">Save exclusions</button>
    <button class="button unscripted" formaction="${action}/preview">Preview</button></div>
  </div>
</form>`,
  })
}

/** The countries that are excluded or chosen come first, so that nobody searches for them. Unknown comes last. */
function countryGroups(first: readonly CountryCode[], chosen: ReadonlySet<CountryCode>): Html {
  const all = Object.keys(countryNames) as CountryCode[]
  const sorted = all.sort(
    (one, other) => Number(one === 'ZZ') - Number(other === 'ZZ') || byName(countryNames[one], countryNames[other]),
  )
  const top = sorted.filter((code) => first.includes(code))
  const rest = sorted.filter((code) => !first.includes(code))
  const list = (codes: readonly CountryCode[]) =>
    html`<ul>${codes.map(
      (code) =>
        html`<li><label class="check"><input type="checkbox" name="country" value="${code}"${chosen.has(code) && html` checked`}>${countryNames[code]}</label></li>`,
    )}</ul>`
  return html`${top.length > 0 && html`<h2>Excluded</h2>${list(top)}`}<h2>${top.length > 0 ? 'All others' : 'Countries'}</h2>${list(rest)}`
}

interface Totals {
  visitors: number
  pageviews: number
}

/** The last 30 days, now and after saving: the same numbers as the API answers. */
async function previewPart(visit: SiteVisit, chosen: readonly CountryCode[]): Promise<Html> {
  const [now, then] = await Promise.all([totals(visit, visit.site.excludedCountries), totals(visit, chosen)])
  return html`<section class="card padded preview" id="preview" aria-live="polite" aria-labelledby="preview-title">
  <h2 id="preview-title">${rangeTexts['30d']}</h2>
  <table>
    <thead><tr><th scope="col"><span class="unseen">Number</span></th><th scope="col" class="right">Now</th><th scope="col" class="right">After saving</th></tr></thead>
    <tbody>${(['visitors', 'pageviews'] as const).map(
      (name) =>
        html`<tr><th scope="row">${name === 'visitors' ? 'Visitors' : 'Pageviews'}</th><td class="right" data-now="${name}">${numberText(now?.[name])}</td><td class="right" data-then="${name}"><b>${numberText(then?.[name])}</b></td></tr>`,
    )}</tbody>
  </table>
  <p class="hint">${now && then ? changeText(now, then) : 'The numbers cannot be read right now. You can save all the same.'}</p>
  ${chosen.length > 0 && hiddenDays(visit.site)}
</section>`
}

/** Nobody should learn afterwards that last year is gone from the chart. */
function hiddenDays({ coverage }: Site): HtmlValue {
  const days = hiddenByExclusions(coverage)
  return (
    days.length > 0 &&
    html`<p class="warning">Imported days have no countries but in the list of countries. Every other number leaves them out while a country is excluded: ${textOfDays(days)}.</p>`
  )
}

const numberText = (number: number | undefined): string => (number === undefined ? '–' : inFull(number))

function changeText(now: Totals, then: Totals): string {
  const difference = then.visitors - now.visitors
  if (difference === 0 && then.pageviews === now.pageviews) return 'Nothing changes.'
  const count = Math.abs(difference)
  return `${inFull(count)} ${difference > 0 ? 'more' : 'fewer'} ${count === 1 ? 'visitor' : 'visitors'}.`
}

const readMs = 5_000 * deadlineFactor

async function totals(
  { services, session, site }: SiteVisit,
  excluded: readonly CountryCode[],
): Promise<Totals | null> {
  const previewedSite: Site = { ...site, excludedCountries: [...excluded] }
  const parameters = { range: { name: '30d' }, filters: {}, limit: 10 } as const
  const request = { report: 'overview', site: previewedSite, parameters, queueKey: session.user.id } as const
  try {
    const { data } = await services.stats.read(request, AbortSignal.timeout(readMs))
    return (data as { current: Totals }).current
  } catch {
    return null // the list can be changed while ClickHouse does not answer
  }
}
