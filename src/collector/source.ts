import type { Site } from '../accounts/sites.ts'

/** Where a visit came from, as the address of its first page and the browser's referrer tell it. */
export interface Source {
  /** Lower-case host without `www.` and port; empty if there is none or it is the site's own (decision D-19). */
  referrer: string
  /** As written (decision D-23). */
  utmSource: string
  utmMedium: string
  utmCampaign: string
  /** Google's and Microsoft's mark of a paid click. */
  clickId: 'gclid' | 'msclkid' | ''
}

const longestTag = 255

export type OwnHosts = Pick<Site, 'hostnames' | 'allowSubdomains'>

export const readSource = (url: URL, referrer: string, own: OwnHosts): Source => ({
  referrer: readReferrer(url, referrer, own),
  ...readTags(url),
})

/** The host of the page itself is the site's own too, listed or not. */
export const readReferrer = (url: URL, referrer: string, { hostnames, allowSubdomains }: OwnHosts): string =>
  referrerHost(referrer, { hostnames: [url.hostname, ...hostnames], allowSubdomains })

export function readTags(url: URL): Omit<Source, 'referrer'> {
  const tags = url.searchParams
  return {
    utmSource: tag(tags, 'utm_source', 'ref', 'source'),
    utmMedium: tag(tags, 'utm_medium'),
    utmCampaign: tag(tags, 'utm_campaign'),
    clickId: clickIdOf(tags),
  }
}

/** The first of these parameters that says something. */
function tag(tags: URLSearchParams, ...names: readonly string[]): string {
  for (const name of names) {
    for (const value of tags.getAll(name)) {
      const cleaned = cleanTag(value)
      if (cleaned !== '') return cleaned
    }
  }
  return ''
}

/** Without what a filter could not ask for: control characters, and more than 255 characters. Blanks alone say nothing. */
function cleanTag(value: string): string {
  const printable = value.replace(/\p{Cc}/gu, '').slice(0, longestTag)
  // The cut may have left half of a pair.
  return printable.trim() === '' ? '' : printable.replace(/[\uD800-\uDBFF]$/, '').toWellFormed()
}

/** gbraid and wbraid are what Google Ads sends instead of gclid where an app or a browser forbids it (decision D-111). */
function clickIdOf(tags: URLSearchParams): Source['clickId'] {
  if (tags.get('gclid') || tags.get('gbraid') || tags.get('wbraid')) return 'gclid'
  return tags.get('msclkid') ? 'msclkid' : ''
}

/** Android apps name themselves as android-app://com.example.app/, which is a host like any other here. */
const referrerSchemes = ['http:', 'https:', 'android-app:']

function referrerHost(referrer: string, { hostnames, allowSubdomains }: OwnHosts): string {
  const address = URL.parse(referrer)
  if (!address || !referrerSchemes.includes(address.protocol)) return ''
  const host = bareHost(address.hostname)
  if (!/^[a-z0-9._:[\]-]{1,253}$/.test(host)) return ''
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
