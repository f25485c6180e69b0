import type { PendingQuery } from 'postgres'
import { type Coverage, coverageColumn } from '../rollups/coverage.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { Goal } from '../traffic/goals.ts'
import { goalsColumn } from './goals.ts'
import { newId } from './ids.ts'

export interface Site {
  id: string
  accountId: string
  domain: string
  /** IANA name. Decides the day of new events and the windows of queries (decision D-1). */
  timeZone: string
  /** Hosts whose traffic belongs to the site, each also with `www.`. */
  hostnames: string[]
  /** Whether all subdomains of these hosts belong to the site, too (decision D-157). */
  allowSubdomains: boolean
  /** Every answer leaves these countries out, also for the past (docs/contract.md 1). */
  excludedCountries: CountryCode[]
  /** By name. */
  goals: readonly Goal[]
  /** The shard of ClickHouse that has its traffic. Chosen by PostgreSQL when the site is created (decision D-201). */
  shard: number
  /** Which of its days are rolled up, settled and retained. */
  coverage: Coverage
  /** When events got the columns of migration 0004, in UTC milliseconds; undefined if the site is younger. */
  detailsSince?: number | undefined
}

/** A site in a list. It has only fields that are fast to read, because an account may have thousands of sites. */
export type ListedSite = Pick<Site, 'id' | 'domain' | 'timeZone'>

export interface NewSite {
  accountId: string
  domain: string
  timeZone?: string
  hostnames?: string[]
  allowSubdomains?: boolean
  excludedCountries?: CountryCode[]
}

export async function createSite(postgres: Postgres, site: NewSite): Promise<string> {
  const id = newId('site')
  await postgres`
    INSERT INTO sites (id, account_id, domain, time_zone, hostnames, allow_subdomains, excluded_countries, shard)
    VALUES (${id}, ${site.accountId}, ${site.domain}, ${site.timeZone ?? 'UTC'},
            ${site.hostnames ?? [site.domain]}, ${site.allowSubdomains ?? false}, ${site.excludedCountries ?? []}, choose_shard())`
  return id
}

interface SiteRow {
  id: string
  account_id: string
  domain: string
  time_zone: string
  hostnames: string[]
  allow_subdomains: boolean
  excluded_countries: CountryCode[]
  /** `Goal[]` as JSON. */
  goals: string
  shard: number
  /** `Coverage` as JSON. */
  coverage: string
  details_since: Date | null
}

const columns = (postgres: Postgres) => postgres`
  id, account_id, domain, time_zone, hostnames, allow_subdomains, excluded_countries, shard,
  ${goalsColumn(postgres)} AS goals, ${coverageColumn(postgres)} AS coverage,
  (SELECT applied_at FROM migrations
   WHERE name = 'clickhouse/0004_visits.sql' AND applied_at > sites.created_at) AS details_since`

export const selectSite = (postgres: Postgres, id: string): PendingQuery<SiteRow[]> =>
  postgres<SiteRow[]>`SELECT ${columns(postgres)} FROM sites WHERE id = ${id}`

export const selectSites = (postgres: Postgres, ids: readonly string[]): PendingQuery<SiteRow[]> =>
  postgres<SiteRow[]>`SELECT ${columns(postgres)} FROM sites WHERE id IN ${postgres(ids as string[])}`

export const selectSiteOfDomain = (postgres: Postgres, domain: string): PendingQuery<SiteRow[]> =>
  postgres<SiteRow[]>`SELECT ${columns(postgres)} FROM sites WHERE domain = ${domain}`

export const siteOf = (row: SiteRow): Site => ({
  id: row.id,
  accountId: row.account_id,
  domain: row.domain,
  timeZone: row.time_zone,
  hostnames: row.hostnames,
  allowSubdomains: row.allow_subdomains,
  excludedCountries: row.excluded_countries,
  goals: JSON.parse(row.goals) as Goal[],
  shard: row.shard,
  coverage: JSON.parse(row.coverage) as Coverage,
  detailsSince: row.details_since?.getTime(),
})

export async function listSites(postgres: Postgres): Promise<Site[]> {
  const rows = await postgres<SiteRow[]>`SELECT ${columns(postgres)} FROM sites ORDER BY domain`
  return rows.map(siteOf)
}

/** The sites of some accounts. */
export async function listSitesOf(
  postgres: Postgres,
  accountIds: readonly string[],
  order: 'name' | 'newest' = 'name',
): Promise<Site[]> {
  if (accountIds.length === 0) return []
  const rows = await postgres<SiteRow[]>`
    SELECT ${columns(postgres)} FROM sites WHERE account_id IN ${postgres(accountIds as string[])}
    ORDER BY CASE ${order} WHEN 'newest' THEN created_at END DESC, domain`
  return rows.map(siteOf)
}

/** The first sites by domain whose domain has this part, and how many there are. */
export async function searchSites(
  postgres: Postgres,
  accountIds: readonly string[],
  part: string,
  limit: number,
): Promise<{ sites: Pick<Site, 'domain' | 'accountId'>[]; total: number }> {
  const rows = await postgres<{ domain: string; accountId: string; total: number }[]>`
    SELECT domain, account_id AS "accountId", count(*) OVER ()::int AS total FROM sites
    WHERE account_id = ANY(${accountIds as string[]}) AND position(${part} in domain) > 0
    ORDER BY domain LIMIT ${limit}`
  return { sites: rows, total: rows[0]?.total ?? 0 }
}

export const selectListedSites = (postgres: Postgres, accountId: string): PendingQuery<ListedSite[]> =>
  postgres<ListedSite[]>`SELECT id, domain, time_zone AS "timeZone" FROM sites WHERE account_id = ${accountId}`

/** Finds a site by id or by domain: people know the domain, programs know the id. */
export async function findSite(postgres: Postgres, reference: string): Promise<Site | undefined> {
  const [row] = await postgres<SiteRow[]>`
    SELECT ${columns(postgres)} FROM sites WHERE id = ${reference} OR domain = ${reference.toLowerCase()}`
  return row && siteOf(row)
}

export const setExcludedCountries = (postgres: Postgres, id: string, countries: readonly CountryCode[]) =>
  postgres`UPDATE sites SET excluded_countries = ${countries as CountryCode[]} WHERE id = ${id}`

export const setHostnames = (
  postgres: Postgres,
  id: string,
  { hostnames, allowSubdomains }: Pick<Site, 'hostnames' | 'allowSubdomains'>,
) => postgres`UPDATE sites SET hostnames = ${hostnames}, allow_subdomains = ${allowSubdomains} WHERE id = ${id}`

export const setTimeZone = (postgres: Postgres, id: string, timeZone: string) =>
  postgres`UPDATE sites SET time_zone = ${timeZone} WHERE id = ${id}`

export const deleteSite = (postgres: Postgres, id: string) => postgres`DELETE FROM sites WHERE id = ${id}`
