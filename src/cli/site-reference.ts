import { findSite, type Site } from '../accounts/sites.ts'
import type { Postgres } from '../stores/postgres.ts'
import { CommandError } from './command.ts'

/** Finds a site by its domain or id. */
export async function siteOf(postgres: Postgres, reference: string): Promise<Site> {
  const site = await findSite(postgres, reference)
  if (!site) throw new CommandError(`There is no site ${reference}.`, 'See them all with: footfall site list')
  return site
}
