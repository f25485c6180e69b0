import { createAccount, listAccounts } from '../accounts/accounts.ts'
import { type DeletedSite, listDeletedSites } from '../accounts/deleted-sites.ts'
import {
  createSite,
  deleteSite,
  findSite,
  listSites,
  type Site,
  setExcludedCountries,
  setHostnames,
  setTimeZone,
} from '../accounts/sites.ts'
import { trackerPath } from '../collector/tracker/routes.ts'
import { readTracker } from '../collector/tracker/script.ts'
import { eraseRows } from '../folding/erasures.ts'
import { within } from '../stores/deadline.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type CountryCode, countryNames, isCountryCode } from '../traffic/country.ts'
import { type Command, CommandError, type Input, positionals, text } from './command.ts'
import { dayOf, deletions, purge } from './deleted-sites.ts'
import type { Terminal } from './terminal.ts'

const subdomainsHelp = 'accept traffic of every host below these hosts too'

const create: Command = {
  summary: 'Add a site',
  usage:
    '<domain> [--account <id>] [--timezone <zone>] [--hostnames <host,host>] [--subdomains] [--exclude-countries <DE,FR>]',
  options: {
    account: { type: 'string' },
    timezone: { type: 'string' },
    hostnames: { type: 'string' },
    subdomains: { type: 'boolean' },
    'exclude-countries': { type: 'string' },
  },
  optionHelp: {
    account: 'who owns it; may be left out while there is only one account',
    timezone: 'whose days count, such as Europe/Berlin; UTC unless told otherwise',
    hostnames: 'hosts whose traffic belongs to it, each with its www. too; the domain itself unless told otherwise',
    subdomains: subdomainsHelp,
    'exclude-countries': 'countries to leave out of every answer',
  },
  examples: ['footfall site create example.com --timezone Europe/Berlin'],
  async run(input, { postgres }) {
    const [given] = positionals(input, ['domain']) as [string]
    const domain = domainOf(given)
    const timeZone = zoneOf(text(input, 'timezone') ?? 'UTC')
    const hostnames = text(input, 'hostnames')?.split(',').map(domainOf) ?? [domain]
    const allowSubdomains = input.options.subdomains === true
    const excludedCountries = countriesOf((text(input, 'exclude-countries') ?? '').split(',').filter(Boolean))
    if (await findSite(postgres, domain)) {
      throw new CommandError(`${domain} is there already.`, `See it with: footfall site show ${domain}`)
    }
    const accountId = await ownerOf(postgres, input)
    const site = { accountId, domain, timeZone, hostnames, allowSubdomains, excludedCountries }
    const id = await createSite(postgres, site)
    return {
      data: { id, ...site },
      show: (terminal) =>
        `Added ${terminal.bold(domain)} as ${id} (${timeZone}).\nNext: footfall key create ${domain}, or footfall demo ${domain}`,
    }
  },
}

const list: Command = {
  summary: 'Show all sites',
  usage: '',
  async run(input, { postgres }) {
    positionals(input, [])
    const sites = await listSites(postgres)
    return {
      data: sites,
      show: (terminal) =>
        sites.length === 0
          ? 'There are no sites yet. Next: footfall site create <domain>'
          : terminal.table(
              ['DOMAIN', 'ID', 'TIME ZONE', 'EXCLUDED', 'ACCOUNT'],
              sites.map(({ domain, id, timeZone, excludedCountries, accountId }) => [
                domain,
                id,
                timeZone,
                excludedCountries.join(', '),
                accountId,
              ]),
            ),
    }
  },
}

const show: Command = {
  summary: 'Show one site',
  usage: '<site>',
  async run(input, { postgres }) {
    const [reference] = positionals(input, ['site']) as [string]
    const site = await siteOf(postgres, reference)
    return { data: site, show: (terminal) => describe(site, terminal) }
  },
}

const excludeCountries: Command = {
  summary: 'Set the countries left out of every answer, for the past too',
  usage: '<site> [<code> …]   (none: exclude nothing)',
  examples: ['footfall site exclude-countries example.com DE FR', 'footfall site exclude-countries example.com'],
  async run(input, { postgres }) {
    const [reference, ...codes] = input.positionals
    if (!reference) throw new CommandError('Which site?', 'footfall site exclude-countries <site> [<code> …]')
    const site = await siteOf(postgres, reference)
    const excludedCountries = countriesOf(codes)
    await setExcludedCountries(postgres, site.id, excludedCountries)
    return {
      data: { id: site.id, excludedCountries },
      show: () =>
        excludedCountries.length === 0
          ? `${site.domain} counts every country now.`
          : `${site.domain} leaves out ${excludedCountries.map((code) => countryNames[code]).join(', ')} now.`,
    }
  },
}

const timezone: Command = {
  summary: 'Set the time zone whose days count; what is recorded keeps the day it got',
  usage: '<site> <zone>',
  async run(input, { postgres }) {
    const [reference, zone] = positionals(input, ['site', 'zone']) as [string, string]
    const site = await siteOf(postgres, reference)
    const timeZone = zoneOf(zone)
    await setTimeZone(postgres, site.id, timeZone)
    return { data: { id: site.id, timeZone }, show: () => `${site.domain} lives in ${timeZone} now.` }
  },
}

const hostnamesOfSite: Command = {
  summary: 'Set the hosts whose traffic a site accepts; what is recorded stays',
  usage: '<site> <host,host> [--subdomains]',
  options: { subdomains: { type: 'boolean' } },
  optionHelp: { subdomains: subdomainsHelp },
  examples: [
    'footfall site hostnames example.com example.com,example.shop',
    'footfall site hostnames example.com example.com --subdomains',
  ],
  async run(input, { postgres }) {
    const [reference, given] = positionals(input, ['site', 'hosts']) as [string, string]
    const site = await siteOf(postgres, reference)
    const own = { hostnames: given.split(',').map(domainOf), allowSubdomains: input.options.subdomains === true }
    await setHostnames(postgres, site.id, own)
    return { data: { id: site.id, ...own }, show: () => `${site.domain} accepts traffic of ${hostsOf(own)} now.` }
  },
}

const snippet: Command = {
  summary: 'Print the tag that counts a site, for the head of its pages',
  usage: '<site> [--url <address>] [--latest]',
  options: { url: { type: 'string' }, latest: { type: 'boolean' } },
  optionHelp: {
    url: 'where browsers reach the collector, such as https://stats.example.com; where it listens unless told otherwise',
    latest: 'follow upgrades by itself, without a hash that browsers check',
  },
  examples: ['footfall site snippet example.com --url https://stats.example.com'],
  async run(input, { postgres, config }) {
    const [reference] = positionals(input, ['site']) as [string]
    const site = await siteOf(postgres, reference)
    const base = addressOf(text(input, 'url') ?? `http://${config.COLLECTOR_HOST}:${config.COLLECTOR_PORT}`)
    const { version, integrity } = readTracker()
    const src = base + (input.options.latest ? '/js/footfall.js' : trackerPath(version))
    const check = input.options.latest ? '' : ` integrity="${integrity}" crossorigin="anonymous"`
    const tag = `<script defer src="${src}" data-site="${site.domain}"${check}></script>`
    return { data: { domain: site.domain, src, ...(check && { integrity }), tag }, show: () => tag }
  },
}

const remove: Command = {
  summary: 'Delete a site with its keys and all its traffic, for good, and say by when the last byte is gone',
  usage: '<site> --yes',
  options: { yes: { type: 'boolean' } },
  optionHelp: { yes: 'confirms it: nothing can bring the traffic back' },
  async run(input, { postgres, clickhouse }) {
    const [reference] = positionals(input, ['site']) as [string]
    const site = await siteOf(postgres, reference)
    if (!input.options.yes) {
      throw new CommandError(`This deletes all traffic of ${site.domain} for good.`, 'Repeat it with --yes to go on.')
    }
    // Keys first: nobody may read a half-erased site. With it goes the record of what is to be erased, so that no outage loses it.
    await deleteSite(postgres, site.id)
    const erased = await within(eraseMs, 'ClickHouse', eraseRows({ postgres, clickhouse })).then(
      () => true,
      () => false,
    )
    const [{ goneBy }] = (await listDeletedSites(postgres)).filter(({ id }) => id === site.id) as [DeletedSite]
    return {
      data: { id: site.id, deleted: true, erased, goneBy },
      show: () =>
        [
          erased
            ? `Deleted ${site.domain}, its keys and its traffic.`
            : `Deleted ${site.domain} and its keys. ClickHouse does not answer: whatever folds erases the traffic when it does.`,
          `Nobody can read it any more. By ${dayOf(goneBy)} its last byte is gone from the disk of ClickHouse; backups keep what they hold.`,
          'See how far it is: footfall site deletions. At once: footfall site purge',
        ].join('\n'),
    }
  },
}

/** The rest is recorded, so nobody has to wait for an engine that hangs. */
const eraseMs = 30_000

/** The site a person means, by domain or id. */
export async function siteOf(postgres: Postgres, reference: string): Promise<Site> {
  const site = await findSite(postgres, reference)
  if (!site) throw new CommandError(`There is no site ${reference}.`, 'See them all with: footfall site list')
  return site
}

const hostsOf = ({ hostnames, allowSubdomains }: Pick<Site, 'hostnames' | 'allowSubdomains'>): string =>
  hostnames.join(', ') + (allowSubdomains ? ' and every host below' : '')

const describe = (site: Site, terminal: Terminal) =>
  terminal.facts([
    ['Domain', terminal.bold(site.domain)],
    ['Id', site.id],
    ['Account', site.accountId],
    ['Time zone', site.timeZone],
    ['Hostnames', hostsOf(site)],
    ['Excluded', site.excludedCountries.map((code) => countryNames[code]).join(', ') || 'no country'],
  ])

/** The account named, or the only one there is; the first site of an installation makes its account too. */
export async function ownerOf(postgres: Postgres, input: Input): Promise<string> {
  const named = text(input, 'account')
  const accounts = await listAccounts(postgres)
  if (named) {
    if (accounts.some(({ id }) => id === named)) return named
    throw new CommandError(`There is no account ${named}.`, 'See them all with: footfall account list')
  }
  if (accounts.length === 0) return createAccount(postgres, { name: 'Main', plan: 'Agency' })
  if (accounts.length === 1) return (accounts[0] as { id: string }).id
  throw new CommandError(
    'There are several accounts.',
    'Say which one owns the site: --account <id> (footfall account list)',
  )
}

function domainOf(given: string): string {
  const domain = given.trim().toLowerCase()
  if (!/^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain)) {
    throw new CommandError(`${given} is not a domain.`, 'Write it without https:// and path, such as example.com.')
  }
  return domain
}

function addressOf(given: string): string {
  const address = URL.parse(given)
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new CommandError(`${given} is not an address.`, 'Write it with https://, such as https://stats.example.com.')
  }
  return (address.origin + address.pathname).replace(/\/$/, '')
}

function zoneOf(given: string): string {
  try {
    return Temporal.Now.zonedDateTimeISO(given).timeZoneId
  } catch {
    throw new CommandError(`${given} is not a time zone.`, 'Use an IANA name, such as Europe/Berlin or UTC.')
  }
}

function countriesOf(codes: readonly string[]): CountryCode[] {
  return codes.map((given) => {
    const code = given.trim().toUpperCase()
    if (!isCountryCode(code)) {
      throw new CommandError(
        `${given} is not a country code.`,
        'Use two letters of ISO 3166-1, such as DE; ZZ is Unknown.',
      )
    }
    return code
  })
}

export const site = {
  create,
  list,
  show,
  'exclude-countries': excludeCountries,
  timezone,
  hostnames: hostnamesOfSite,
  snippet,
  delete: remove,
  deletions,
  purge,
}
