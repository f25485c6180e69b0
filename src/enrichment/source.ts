import type { Site } from '../accounts/sites.ts'
import { isReferrerHost } from '../hostnames.ts'
import type { Campaign } from '../traffic/event.ts'
import { cleanText } from './text.ts'

/** Where a visit came from, according to the URL of its first page and the browser's referrer. */
export interface Source {
  /** Lower-case host without `www.` and port; empty without a referrer or when it is the site itself (decision D-19). */
  referrer: string
  /** As written (decision D-23). */
  utmSource: string
  /** Undefined if the URL has none of these tags. */
  campaign: Campaign | undefined
  /** The parameter by which Google and Microsoft mark a paid click. */
  clickId: 'gclid' | 'msclkid' | ''
}

/** A filter of the API matches up to 255 characters. */
const maxTagLength = 255

export type OwnHosts = Pick<Site, 'hostnames' | 'allowSubdomains'>

export const readSource = (url: URL, referrer: string, own: OwnHosts): Source => ({
  referrer: readReferrer(url, referrer, own),
  ...readTags(url),
})

/** The page's host counts as a host of the site, even if it is not listed. */
export const readReferrer = (url: URL, referrer: string, { hostnames, allowSubdomains }: OwnHosts): string =>
  referrerHost(referrer, { hostnames: [url.hostname, ...hostnames], allowSubdomains })

export function readTags(url: URL): Omit<Source, 'referrer'> {
  const tags = url.searchParams
  return {
    utmSource: tag(tags, 'utm_source', 'ref', 'source'),
    campaign: campaignOf({
      medium: tag(tags, 'utm_medium'),
      campaign: tag(tags, 'utm_campaign'),
      content: tag(tags, 'utm_content'),
      term: tag(tags, 'utm_term'),
    }),
    clickId: clickIdOf(tags),
  }
}

/** Most visits have no such tag, and then no event carries four empty ones. */
export const campaignOf = (campaign: Campaign): Campaign | undefined =>
  campaign.medium || campaign.campaign || campaign.content || campaign.term ? campaign : undefined

/** The first of these parameters that has a value. */
function tag(tags: URLSearchParams, ...names: readonly string[]): string {
  for (const name of names) {
    for (const value of tags.getAll(name)) {
      const cleaned = cleanText(value, maxTagLength)
      if (cleaned !== '') return cleaned
    }
  }
  return ''
}

/** Google Ads sends gbraid or wbraid where an app or a browser does not allow gclid (decision D-111). */
function clickIdOf(tags: URLSearchParams): Source['clickId'] {
  if (tags.get('gclid') || tags.get('gbraid') || tags.get('wbraid')) return 'gclid'
  return tags.get('msclkid') ? 'msclkid' : ''
}

/** Android apps send android-app://com.example.app/, whose host is treated like any other. */
const referrerSchemes = ['http:', 'https:', 'android-app:']

function referrerHost(referrer: string, { hostnames, allowSubdomains }: OwnHosts): string {
  const address = URL.parse(referrer)
  if (!address || !referrerSchemes.includes(address.protocol)) return ''
  const host = bareHost(address.hostname)
  if (!isReferrerHost(host)) return ''
  const isOwn = hostnames.some((hostname) => {
    const own = bareHost(hostname)
    return host === own || (allowSubdomains && host.endsWith(`.${own}`))
  })
  return isOwn ? '' : host
}

function bareHost(hostname: string): string {
  const lower = hostname.toLowerCase()
  const host = lower.endsWith('.') ? lower.slice(0, -1) : lower
  return host.startsWith('www.') ? host.slice(4) : host
}
