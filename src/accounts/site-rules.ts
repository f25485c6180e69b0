// What the settings of a site may be. The command line and the console ask here, so that both accept the same and store the same.
import { asciiOf, isSiteHost, maxHostname } from '../hostnames.ts'
import { type CountryCode, countryNames, isCountryCode } from '../traffic/country.ts'

const maxHostnames = 100
/** The console has pages of its own at `/sites/…`. */
const reserved = ['new']

/** Thrown for a value that the person can correct: what is wrong, and what to enter. */
export class InvalidSetting extends Error {
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

export function domainOf(given: string): string {
  const domain = hostnameOf(given)
  if (reserved.includes(domain)) throw new InvalidSetting(`${domain} cannot be the name of a site.`, domainAdvice)
  return domain
}

export function hostnamesOf(given: readonly string[]): string[] {
  const hostnames = [...new Set(given.map(hostnameOf))]
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

/** The IANA name as its authors write it: `europe/berlin` becomes `Europe/Berlin`. */
export function timeZoneOf(given: string): string {
  try {
    // A fixed offset such as +02:00 would be wrong for half of the year.
    if (/^[a-z]/i.test(given)) return Temporal.Now.zonedDateTimeISO(given.trim()).timeZoneId
  } catch {}
  throw new InvalidSetting(`${quoted(given)} is not a time zone.`, 'Use an IANA name, such as Europe/Berlin or UTC.')
}

export function countriesOf(given: readonly string[]): CountryCode[] {
  const maxCountries = Object.keys(countryNames).length
  if (given.length > maxCountries) {
    throw new InvalidSetting(
      `These are ${given.length} countries, and there are only ${maxCountries}.`,
      'Name each country once.',
    )
  }
  const codes = given.map((text) => {
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

/** People copy addresses: the host of `https://Example.com/pricing` is example.com. */
function hostnameOf(given: string): string {
  const host = given
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/\.$/, '')
    .toLowerCase()
  const ascii = host.length <= maxHostname ? asciiOf(host) : host
  if (isSiteHost(ascii)) return ascii
  throw new InvalidSetting(`${quoted(given)} is not a domain.`, domainAdvice)
}

const maxQuotedLength = 60

/** Messages quote what was entered, shortened. */
const quoted = (text: string): string => (text.length <= maxQuotedLength ? text : `${text.slice(0, maxQuotedLength)}…`)
