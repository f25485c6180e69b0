// Changes of sites by people, each together with its entry in the audit log: the console and the command line change sites only here.
import {
  createSite,
  deleteSite,
  type NewSite,
  type Site,
  setExcludedCountries,
  setHostnames,
  setTimeZone,
} from '../accounts/sites.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { countryNames } from '../traffic/country.ts'
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'
import { noteChange } from './notes.ts'

/** Returns the id of the new site, or undefined if another site has the domain. */
export async function addSite(postgres: Postgres, actor: Actor, site: NewSite): Promise<string | undefined> {
  const { accountId, domain, timeZone = 'UTC' } = site
  try {
    return await inTransaction(postgres, async (transaction) => {
      const id = await createSite(transaction, site)
      await recordAction(transaction, {
        ...actor,
        accountId,
        action: 'site.created',
        subject: domain,
        details: `${timeZone}, ${hostsText({ hostnames: [domain], allowSubdomains: false, ...site })}`,
      })
      return id
    })
  } catch (error) {
    if ((error as { code?: string }).code === uniqueViolation) return undefined
    throw error
  }
}

const uniqueViolation = '23505'

export const changeTimeZone = (
  postgres: Postgres,
  actor: Actor,
  site: Site,
  timeZone: string,
  now: number,
): Promise<void> =>
  change(postgres, actor, site, {
    action: 'site.time_zone_changed',
    from: site.timeZone,
    to: timeZone,
    apply: (transaction) => setTimeZone(transaction, site.id, timeZone),
    note: { cause: 'time_zone', text: `Time zone: ${site.timeZone} → ${timeZone}`, day: dayIn(timeZone, now) },
  })

export const changeHostnames = (
  postgres: Postgres,
  actor: Actor,
  site: Site,
  hosts: Pick<Site, 'hostnames' | 'allowSubdomains'>,
): Promise<void> =>
  change(postgres, actor, site, {
    action: 'site.hostnames_changed',
    from: hostsText(site),
    to: hostsText(hosts),
    apply: (transaction) => setHostnames(transaction, site.id, hosts),
  })

export const changeExcludedCountries = (
  postgres: Postgres,
  actor: Actor,
  site: Site,
  countries: Site['excludedCountries'],
  now: number,
): Promise<void> =>
  change(postgres, actor, site, {
    action: 'site.exclusions_changed',
    from: site.excludedCountries.join(', ') || 'none',
    to: countries.join(', ') || 'none',
    apply: (transaction) => setExcludedCountries(transaction, site.id, countries),
    note: { cause: 'exclusions', text: exclusionsText(countries), day: dayIn(site.timeZone, now) },
  })

const dayIn = (timeZone: string, now: number): string =>
  String(Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate())

const maxNamed = 5

/** `Excluded countries: France, Germany and 3 more` */
function exclusionsText(countries: Site['excludedCountries']): string {
  const names = countries.map((code) => countryNames[code]).toSorted()
  const more = names.length > maxNamed ? [`${names.length - maxNamed} more`] : []
  const list = new Intl.ListFormat('en').format([...names.slice(0, maxNamed), ...more])
  return `Excluded countries: ${list || 'none'}`
}

/**
 * Deletes the site and its keys at once, so that nobody can read a half-erased site. The same transaction records what must be erased
 * from ClickHouse, so no outage loses it (decision D-145).
 */
export async function removeSite(postgres: Postgres, actor: Actor, { id, accountId, domain }: Site): Promise<void> {
  await inTransaction(postgres, async (transaction) => {
    await deleteSite(transaction, id)
    await recordAction(transaction, { ...actor, accountId, action: 'site.deleted', subject: domain, details: id })
  })
}

interface Change {
  action: AuditEntry['action']
  from: string
  to: string
  apply(transaction: Postgres): PromiseLike<unknown>
  /** For whoever sees the numbers change. */
  note?: Parameters<typeof noteChange>[3]
}

/** Does nothing if the value stays the same, so that the log has only real changes. */
async function change(
  postgres: Postgres,
  actor: Actor,
  site: Site,
  { action, from, to, apply, note }: Change,
): Promise<void> {
  if (from === to) return
  const { accountId, domain } = site
  await inTransaction(postgres, async (transaction) => {
    await apply(transaction)
    if (note) await noteChange(transaction, actor, site, note)
    await recordAction(transaction, { ...actor, accountId, action, subject: domain, details: `${from} → ${to}` })
  })
}

/** `example.com, example.shop and their subdomains` */
export const hostsText = ({ hostnames, allowSubdomains }: Pick<Site, 'hostnames' | 'allowSubdomains'>): string =>
  hostnames.join(', ') + (allowSubdomains ? ' and their subdomains' : '')
