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
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'

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

export const changeTimeZone = (postgres: Postgres, actor: Actor, site: Site, timeZone: string): Promise<void> =>
  change(postgres, actor, site, {
    action: 'site.time_zone_changed',
    from: site.timeZone,
    to: timeZone,
    apply: (transaction) => setTimeZone(transaction, site.id, timeZone),
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
): Promise<void> =>
  change(postgres, actor, site, {
    action: 'site.exclusions_changed',
    from: site.excludedCountries.join(', ') || 'none',
    to: countries.join(', ') || 'none',
    apply: (transaction) => setExcludedCountries(transaction, site.id, countries),
  })

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
}

/** Does nothing if the value stays the same, so that the log has only real changes. */
async function change(
  postgres: Postgres,
  actor: Actor,
  { accountId, domain }: Site,
  { action, from, to, apply }: Change,
): Promise<void> {
  if (from === to) return
  await inTransaction(postgres, async (transaction) => {
    await apply(transaction)
    await recordAction(transaction, { ...actor, accountId, action, subject: domain, details: `${from} → ${to}` })
  })
}

/** `example.com, example.shop and their subdomains` */
export const hostsText = ({ hostnames, allowSubdomains }: Pick<Site, 'hostnames' | 'allowSubdomains'>): string =>
  hostnames.join(', ') + (allowSubdomains ? ' and their subdomains' : '')
