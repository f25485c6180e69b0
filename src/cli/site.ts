import { createAccount, listAccounts } from '../accounts/accounts.ts'
import { countriesOf, domainOf, hostnamesOf, timeZoneOf } from '../accounts/site-rules.ts'
import { findSite, listSites, type Site } from '../accounts/sites.ts'
import { type DeletedSite, eraseUnknownSite, listDeletedSites } from '../erasure/deleted-sites.ts'
import { tryToEraseRows } from '../erasure/job.ts'
import { hiddenByExclusions, textOfDays } from '../rollups/imported-days.ts'
import { unknownSites } from '../rollups/ledger.ts'
import type { Postgres } from '../stores/postgres.ts'
import { readTracker } from '../tracker/script.ts'
import { trackerTag } from '../tracker/tag.ts'
import { countryNames } from '../traffic/country.ts'
import { goalText } from '../traffic/goals.ts'
import { commandLine } from '../users/audit-log.ts'
import {
  addSite,
  changeExcludedCountries,
  changeHostnames,
  changeTimeZone,
  hostsText,
  removeSite,
} from '../users/site-changes.ts'
import { type Command, CommandError, type Input, positionals, text } from './command.ts'
import { dayOf, deletions, purge } from './deleted-sites.ts'
import { asCommandError } from './invalid-setting.ts'
import { move } from './site-move.ts'
import { siteOf } from './site-reference.ts'
import type { Terminal } from './terminal.ts'

const subdomainsHelp = 'also accept traffic from every subdomain of these hosts'

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
    account: 'owner of the site; may be left out while there is only one account',
    timezone: 'time zone of its days, such as Europe/Berlin; the default is UTC',
    hostnames: 'hosts whose traffic belongs to the site, each also with www.; the default is the domain',
    subdomains: subdomainsHelp,
    'exclude-countries': 'countries to leave out of every report',
  },
  examples: ['footfall site create example.com --timezone Europe/Berlin'],
  async run(input, { postgres }) {
    const [argument] = positionals(input, ['domain']) as [string]
    const domain = checked(domainOf, argument)
    const timeZone = checked(timeZoneOf, text(input, 'timezone') ?? 'UTC')
    const hostnames = checked(hostnamesOf, text(input, 'hostnames')?.split(',') ?? [domain])
    const allowSubdomains = input.options.subdomains === true
    const excludedCountries = checked(countriesOf, (text(input, 'exclude-countries') ?? '').split(',').filter(Boolean))
    if (await findSite(postgres, domain)) throw alreadyExists(domain)
    const accountId = await ownerOf(postgres, input)
    const site = { accountId, domain, timeZone, hostnames, allowSubdomains, excludedCountries }
    const id = await addSite(postgres, commandLine, site)
    if (!id) throw alreadyExists(domain)
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
  summary: 'Set the countries to leave out of every report, also for past days',
  usage: '<site> [<code> …] [--yes]   (none: exclude nothing)',
  options: { yes: { type: 'boolean' } },
  optionHelp: { yes: 'save it although it hides imported days' },
  examples: ['footfall site exclude-countries example.com DE FR', 'footfall site exclude-countries example.com'],
  async run(input, { postgres }) {
    const [reference, ...codes] = input.positionals
    if (!reference) throw new CommandError('Which site?', 'footfall site exclude-countries <site> [<code> …]')
    const site = await siteOf(postgres, reference)
    const excludedCountries = checked(countriesOf, codes)
    const hidden = hiddenByExclusions(site.coverage)
    const isNew = excludedCountries.length > 0 && site.excludedCountries.length === 0
    if (isNew && hidden.length > 0 && input.options.yes !== true)
      throw new CommandError(
        `While a country is excluded, imported days are in the list of countries only: ${textOfDays(hidden)}.`,
        'Nothing was saved. To save it all the same, repeat it with --yes.',
      )
    await changeExcludedCountries(postgres, commandLine, site, excludedCountries, Date.now())
    return {
      data: { id: site.id, excludedCountries },
      show: () =>
        excludedCountries.length === 0
          ? `${site.domain} now counts every country.`
          : `${site.domain} now leaves out ${excludedCountries.map((code) => countryNames[code]).join(', ')}.`,
    }
  },
}

const timezone: Command = {
  summary: 'Set the time zone of the days of a site; recorded events keep their day',
  usage: '<site> <zone>',
  async run(input, { postgres }) {
    const [reference, zone] = positionals(input, ['site', 'zone']) as [string, string]
    const site = await siteOf(postgres, reference)
    const timeZone = checked(timeZoneOf, zone)
    await changeTimeZone(postgres, commandLine, site, timeZone, Date.now())
    return { data: { id: site.id, timeZone }, show: () => `${site.domain} now uses ${timeZone}.` }
  },
}

const hostnamesOfSite: Command = {
  summary: 'Set the hosts whose traffic a site accepts; recorded events stay',
  usage: '<site> <host,host> [--subdomains]',
  options: { subdomains: { type: 'boolean' } },
  optionHelp: { subdomains: subdomainsHelp },
  examples: [
    'footfall site hostnames example.com example.com,example.shop',
    'footfall site hostnames example.com example.com --subdomains',
  ],
  async run(input, { postgres }) {
    const [reference, hosts] = positionals(input, ['site', 'hosts']) as [string, string]
    const site = await siteOf(postgres, reference)
    const own = {
      hostnames: checked(hostnamesOf, hosts.split(',')),
      allowSubdomains: input.options.subdomains === true,
    }
    await changeHostnames(postgres, commandLine, site, own)
    return { data: { id: site.id, ...own }, show: () => `${site.domain} now accepts traffic from ${hostsText(own)}.` }
  },
}

const snippet: Command = {
  summary: 'Print the script tag for the head of every page of a site',
  usage: '<site> [--url <address>] [--latest]',
  options: { url: { type: 'string' }, latest: { type: 'boolean' } },
  optionHelp: {
    url: 'where browsers reach the collector, such as https://stats.example.com; the default is PUBLIC_URL',
    latest: 'always use the latest script, without a hash that browsers check',
  },
  examples: ['footfall site snippet example.com --url https://stats.example.com'],
  async run(input, { postgres, config }) {
    const [reference] = positionals(input, ['site']) as [string]
    const site = await siteOf(postgres, reference)
    const base = addressOf(text(input, 'url') ?? config.PUBLIC_URL ?? `http://localhost:${config.PORT}`)
    const made = trackerTag(base, site.domain, readTracker(), input.options.latest === true)
    return { data: { domain: site.domain, ...made }, show: () => made.tag }
  },
}

const remove: Command = {
  summary: 'Delete a site, its keys and all its traffic for good',
  usage: '<site> --yes',
  options: { yes: { type: 'boolean' } },
  optionHelp: { yes: 'confirm the deletion: the traffic cannot be restored' },
  async run(input, context) {
    const { postgres, cluster } = context
    const [reference] = positionals(input, ['site']) as [string]
    // After a restore, ClickHouse may have traffic of a site that PostgreSQL does not know (decision D-205).
    const isUnknown = !(await findSite(postgres, reference)) && (await unknownSites(context)).includes(reference)
    const site = isUnknown ? undefined : await siteOf(postgres, reference)
    const { id, domain: name } = site ?? { id: reference, domain: reference }
    if (!input.options.yes) {
      throw new CommandError(`This deletes all traffic of ${name} for good.`, 'To confirm, repeat it with --yes.')
    }
    if (site) await removeSite(postgres, commandLine, site)
    else await eraseUnknownSite(postgres, id)
    const shards = site ? [cluster.of(site)] : cluster.shards
    const all = await Promise.all(shards.map((clickhouse) => tryToEraseRows({ postgres, clickhouse }, eraseMs)))
    const erased = all.every(Boolean)
    const [{ goneBy }] = (await listDeletedSites(postgres)).filter((one) => one.id === id) as [DeletedSite]
    return {
      data: { id, deleted: true, erased, goneBy },
      show: () =>
        [
          erased
            ? `Deleted ${name}${site ? ', its keys' : ''} and its traffic.`
            : `Deleted ${name}${site ? ' and its keys' : ''}. ClickHouse does not answer: the rollup process erases the traffic when it does.`,
          `Nobody can read the traffic any more. It is gone from the disk of ClickHouse by ${dayOf(goneBy)}; existing backups still contain it.`,
          'To see the progress: footfall site deletions. To remove it from the disk now: footfall site purge',
        ].join('\n'),
    }
  },
}

/** How long the command waits for the erasure. It is recorded, so another process completes it if ClickHouse hangs. */
const eraseMs = 30_000

const describe = (site: Site, terminal: Terminal) =>
  terminal.facts([
    ['Domain', terminal.bold(site.domain)],
    ['Id', site.id],
    ['Account', site.accountId],
    ['Time zone', site.timeZone],
    ['Hostnames', hostsText(site)],
    ['Excluded', site.excludedCountries.map((code) => countryNames[code]).join(', ') || 'no country'],
    ['Goals', site.goals.map(goalText).join('; ') || 'none'],
  ])

/** The named account, or the only one. The first site of an installation also creates its account. */
export async function ownerOf(postgres: Postgres, input: Input): Promise<string> {
  const named = text(input, 'account')
  const accounts = await listAccounts(postgres)
  if (named) {
    if (accounts.some(({ id }) => id === named)) return named
    throw new CommandError(`There is no account ${named}.`, 'See them all with: footfall account list')
  }
  if (accounts.length === 0) return createAccount(postgres, { name: 'Main', plan: 'Agency' })
  if (accounts.length === 1) return (accounts[0] as { id: string }).id
  throw new CommandError('There are several accounts.', 'Name one of them: --account <id> (footfall account list)')
}

const alreadyExists = (domain: string): CommandError =>
  new CommandError(`${domain} already exists.`, `See it with: footfall site show ${domain}`)

function checked<Setting, Value>(check: (setting: Setting) => Value, setting: Setting): Value {
  try {
    return check(setting)
  } catch (error) {
    throw asCommandError(error)
  }
}

function addressOf(url: string): string {
  const address = URL.parse(url)
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new CommandError(`${url} is not an address.`, 'Write it with https://, such as https://stats.example.com.')
  }
  return (address.origin + address.pathname).replace(/\/$/, '')
}

export const site = {
  create,
  list,
  show,
  'exclude-countries': excludeCountries,
  timezone,
  hostnames: hostnamesOfSite,
  snippet,
  move,
  delete: remove,
  deletions,
  purge,
}
