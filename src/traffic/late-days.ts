import type { Postgres } from '../stores/postgres.ts'

export interface SiteDay {
  siteId: string
  /** `YYYY-MM-DD`, in the site's zone. */
  day: string
}

/**
 * Says that events were added to days that are over. Called after the events are in the engine and before their writer forgets
 * them, so that whoever derives something from closed days derives it again. Nothing does yet: this is the seam for it.
 */
export async function noteLateDays(_postgres: Postgres, _days: readonly SiteDay[]): Promise<void> {}
