import type { PendingQuery } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { Fold, OpenFold } from '../traffic/folds.ts'
import { newId } from './ids.ts'

export interface Site {
  id: string
  accountId: string
  domain: string
  /** IANA name; decides the day of new events and the windows of questions (decision D-1). */
  timeZone: string
  /** Hosts whose traffic belongs to it, each with its `www.` too. */
  hostnames: string[]
  /** Whether everything below these hosts belongs to it as well (decision D-157). */
  allowSubdomains: boolean
  /** Taken out of every answer, for the past too (docs/contract.md 1). */
  excludedCountries: CountryCode[]
  /** Which days are read from tallies; none for a site that is not folded. */
  folds: Fold[]
  /** Of a busy site, what is known of its open days. */
  open: OpenFold | null
  /** The last day that no event is written for any more without raising `late`; null when no day is settled. */
  settledThrough: string | null
  late: number
  /** The first day of which single events are kept; of days before it, what was folded (decision D-79). */
  eventsFrom: string
}

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
    INSERT INTO sites (id, account_id, domain, time_zone, hostnames, allow_subdomains, excluded_countries)
    VALUES (${id}, ${site.accountId}, ${site.domain}, ${site.timeZone ?? 'UTC'},
            ${site.hostnames ?? [site.domain]}, ${site.allowSubdomains ?? false}, ${site.excludedCountries ?? []})`
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
  /** JSON. */
  folds: string
  /** JSON. */
  open: string | null
  settled_through: string | null
  late: number
  events_from: string
}

const columns = (postgres: Postgres) => postgres`
  id, account_id, domain, time_zone, hostnames, allow_subdomains, excluded_countries,
  (
    SELECT coalesce(json_agg(json_build_object(
      'version', version, 'days', day_ranges(days), 'months', day_ranges(months)) ORDER BY version), '[]')::text
    FROM site_folds
    WHERE site_id = sites.id AND (days <> '{}' OR months <> '{}')
  ) AS folds,
  (
    SELECT json_build_object('version', version, 'days', json_build_array(first_day::text, last_day::text),
      'asOf', floor(extract(epoch FROM as_of) * 1000), 'parts', parts)::text
    FROM open_folds WHERE site_id = sites.id AND open_folds.time_zone = sites.time_zone
  ) AS open,
  (SELECT considered_through::text FROM site_folding WHERE site_id = sites.id) AS settled_through,
  coalesce((SELECT late FROM site_folding WHERE site_id = sites.id), 0) AS late,
  (SELECT kept_from::text FROM retention) AS events_from`

export const selectSite = (postgres: Postgres, id: string): PendingQuery<SiteRow[]> =>
  postgres<SiteRow[]>`SELECT ${columns(postgres)} FROM sites WHERE id = ${id}`

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
  folds: JSON.parse(row.folds) as Fold[],
  open: row.open === null ? null : (JSON.parse(row.open) as OpenFold),
  settledThrough: row.settled_through,
  late: row.late,
  eventsFrom: row.events_from,
})

export async function listSites(postgres: Postgres): Promise<Site[]> {
  const rows = await postgres<SiteRow[]>`SELECT ${columns(postgres)} FROM sites ORDER BY domain`
  return rows.map(siteOf)
}

/** By id or by domain: people know the one, programs the other. */
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
