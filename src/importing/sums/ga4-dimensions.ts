// The dimensions of Google Analytics 4 that are lists of ours, and what their values are here.
import type { Site } from '../../accounts/sites.ts'
import { maxNameLength } from '../../enrichment/page.ts'
import { readReferrer } from '../../enrichment/source.ts'
import { cleanText } from '../../enrichment/text.ts'
import { type Channel, channels } from '../../traffic/channel.ts'
import { type CountryCode, countryNames, isCountryCode } from '../../traffic/country.ts'
import { browserCalled, deviceCalled, systemCalled } from '../formats/names.ts'
import type { SumName } from './format.ts'

export interface Ga4Dimension {
  list: string
  valueIn(text: string, site: Site): string
  needs: readonly SumName[]
}

const notSet = (text: string): string => (text === '(not set)' || text === '(direct)' || text === '(none)' ? '' : text)
const textOf = (text: string): string => cleanText(notSet(text), 255)
const pathOf = (text: string): string => cleanText(text.replace(/[?#].*$/s, ''), 2_000)
const dimension = (
  list: string,
  valueIn: (text: string, site: Site) => string,
  needs: readonly SumName[] = ['visitors'],
): Ga4Dimension => ({ list, valueIn, needs })

const page = dimension('page', pathOf, ['visitors', 'pageviews'])
const entryPage = dimension('entry_page', (text) => pathOf(notSet(text)))
const country = dimension('country', countryOf)
const channel = dimension('channel', channelOf)
const source = dimension('referrer', referrerOf)
const event = dimension('event', (text) => cleanText(text, maxNameLength), ['visitors', 'events'])
const device = dimension('device', (text) => deviceCalled(text))
const browser = dimension('browser', (text) => textOf(browserCalled(text)) || 'Unknown')
const system = dimension('os', (text) => textOf(systemCalled(text)) || 'Unknown')

/** By what the interface and the API call them, in lower case. */
export const ga4Dimensions: Readonly<Record<string, Ga4Dimension>> = {
  'page path': page,
  'page path and screen class': page,
  'page path + query string': page,
  'page path + query string and screen class': page,
  pagepath: page,
  pagepathplusquerystring: page,
  unifiedpagepathscreen: page,
  'landing page': entryPage,
  'landing page + query string': entryPage,
  landingpage: entryPage,
  landingpageplusquerystring: entryPage,
  hostname: dimension('hostname', (text) => textOf(text).toLowerCase()),
  country,
  'country id': country,
  countryid: country,
  'session default channel group': channel,
  'session primary channel group (default channel group)': channel,
  sessiondefaultchannelgroup: channel,
  'session source': source,
  sessionsource: source,
  'session manual source': dimension('utm_source', textOf),
  sessionmanualsource: dimension('utm_source', textOf),
  'session manual medium': dimension('utm_medium', textOf),
  sessionmanualmedium: dimension('utm_medium', textOf),
  'session manual campaign name': dimension('utm_campaign', textOf),
  sessionmanualcampaignname: dimension('utm_campaign', textOf),
  'session manual ad content': dimension('utm_content', textOf),
  sessionmanualadcontent: dimension('utm_content', textOf),
  'session manual term': dimension('utm_term', textOf),
  sessionmanualterm: dimension('utm_term', textOf),
  'event name': event,
  eventname: event,
  device,
  'device category': device,
  devicecategory: device,
  browser,
  'operating system': system,
  operatingsystem: system,
}

/** Made when a file is read: names of ICU take a tenth of a second. */
let codesByName: ReadonlyMap<string, CountryCode> | undefined

function readCodes(): ReadonlyMap<string, CountryCode> {
  const codes = new Map<string, CountryCode>()
  const shownBy = new Intl.DisplayNames('en', { type: 'region' })
  for (const [code, name] of Object.entries(countryNames) as [CountryCode, string][]) {
    const shown = shownBy.of(code) ?? name
    for (const one of [name, shown, shown.replaceAll('&', 'and').replaceAll('St.', 'St')])
      codes.set(one.toLowerCase(), code)
  }
  for (const [name, code] of otherNames) codes.set(name, code)
  return codes
}

const otherNames = [
  ['turkey', 'TR'],
  ['hong kong', 'HK'],
  ['macao', 'MO'],
  ['macau', 'MO'],
  ['myanmar (burma)', 'MM'],
  ['palestine', 'PS'],
  ['congo - brazzaville', 'CG'],
  ['congo - kinshasa', 'CD'],
  ["côte d'ivoire", 'CI'],
  ['south korea', 'KR'],
  ['russia', 'RU'],
  ['vietnam', 'VN'],
  ['taiwan', 'TW'],
] as const

/** A name of a country or its code; anything else is Unknown. */
function countryOf(text: string): string {
  if (isCountryCode(text)) return text
  codesByName ??= readCodes()
  return codesByName.get(text.replaceAll('’', "'").toLowerCase()) ?? codesByName.get(text.toLowerCase()) ?? 'ZZ'
}

const channelsByName = new Map<string, Channel>(channels.map((name) => [name.toLowerCase(), name]))

/** Google’s groups are ours. Visits that it puts in none have a source that no rule knows, which is `Referral` here. */
function channelOf(text: string): string {
  return channelsByName.get(text.toLowerCase()) ?? (text === 'AI Assistant' ? 'AI Assistants' : 'Referral')
}

/** Of search engines Google keeps a name only. Other names are tags of links: these visits have no referrer. */
const engines: Readonly<Record<string, string>> = {
  google: 'google.com',
  bing: 'bing.com',
  duckduckgo: 'duckduckgo.com',
  yahoo: 'yahoo.com',
  baidu: 'baidu.com',
  yandex: 'yandex.com',
}

function referrerOf(text: string, site: Site): string {
  const host = engines[text.toLowerCase()] ?? (text.includes('.') ? text : '')
  return host === '' ? '' : readReferrer(new URL(`https://${site.domain}/`), `https://${host}`, site)
}
