// Checks and normalises the settings of a site. The command line and the console share it, so that both accept and store the same.
import { asciiOf, isSiteHost, maxHostname } from '../hostnames.ts'
import { type CountryCode, countryNames, isCountryCode } from '../traffic/country.ts'

const maxHostnames = 100
/** Pages of the console below `/sites/`. */
const reserved = ['new']

/** Thrown for an invalid value. The message says what is wrong, `advice` what to enter. */
export class InvalidSetting extends Error {
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

export function domainOf(text: string): string {
  const domain = hostnameOf(text)
  if (reserved.includes(domain)) throw new InvalidSetting(`${domain} cannot be the name of a site.`, domainAdvice)
  return domain
}

export function hostnamesOf(texts: readonly string[]): string[] {
  const hostnames = [...new Set(texts.map(hostnameOf))]
  if (hostnames.length === 0) {
    throw new InvalidSetting(
      'A site needs at least one host name.',
      'Enter the host of its pages, such as example.com.',
    )
  }
  if (hostnames.length > maxHostnames) {
    throw new InvalidSetting(
      `These are ${hostnames.length} host names; a site has at most ${maxHostnames}.`,
      'Allow all subdomains instead of listing them.',
    )
  }
  return hostnames
}

/** The IANA name in its official case: `europe/berlin` becomes `Europe/Berlin`. */
export function timeZoneOf(text: string): string {
  try {
    // A fixed offset such as +02:00 would be wrong for half of the year.
    if (/^[a-z]/i.test(text)) return Temporal.Now.zonedDateTimeISO(text.trim()).timeZoneId
  } catch {}
  throw new InvalidSetting(`${quoted(text)} is not a time zone.`, 'Use an IANA name, such as Europe/Berlin or UTC.')
}

export function countriesOf(texts: readonly string[]): CountryCode[] {
  const maxCountries = Object.keys(countryNames).length
  if (texts.length > maxCountries) {
    throw new InvalidSetting(
      `These are ${texts.length} countries, and there are only ${maxCountries}.`,
      'Name each country once.',
    )
  }
  const codes = texts.map((text) => {
    const code = text.trim().toUpperCase()
    if (isCountryCode(code)) return code
    throw new InvalidSetting(
      `${quoted(text)} is not a country code.`,
      'Use a two-letter code of ISO 3166-1, such as DE; ZZ means unknown.',
    )
  })
  return [...new Set(codes)].sort()
}

const domainAdvice = 'Use a host name without port, such as example.com.'

/** Accepts a copied address: the host of `https://Example.com/pricing` is example.com. */
function hostnameOf(text: string): string {
  const host = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/\.$/, '')
    .toLowerCase()
  const ascii = host.length <= maxHostname ? asciiOf(host) : host
  if (isSiteHost(ascii)) return ascii
  throw new InvalidSetting(`${quoted(text)} is not a domain.`, domainAdvice)
}

const maxQuotedLength = 60

/** The entered text, shortened for a message. */
const quoted = (text: string): string => (text.length <= maxQuotedLength ? text : `${text.slice(0, maxQuotedLength)}…`)
