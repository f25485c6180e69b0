// Segments of a site: filters of its dashboard under a name (decision D-238). Each change comes together with its entry in the audit log.
import { lineOf } from '../accounts/goal-rules.ts'
import { InvalidSetting } from '../accounts/site-rules.ts'
import type { Site } from '../accounts/sites.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Actor } from './audit-log.ts'
import { changeOfSite } from './change-of-site.ts'

export interface Segment {
  name: string
  /** Texts as in the API: `page:starts_with:/blog`. Not empty. */
  filters: readonly string[]
}

export const maxSegmentName = 60

/** In the order of their names by code point, whatever the collation of the database. */
export const segmentsOf = (postgres: Postgres, siteId: string): Promise<Segment[]> =>
  postgres<Segment[]>`SELECT name, filters FROM segments WHERE site_id = ${siteId} ORDER BY name COLLATE "C"`

/** Throws `InvalidSetting` if the site has the name already or has too many segments. */
export const addSegment = (postgres: Postgres, actor: Actor, site: Site, segment: Segment): Promise<void> => {
  const { name, filters } = checked(segment)
  return changeOfSite(postgres, actor, site, {
    action: 'segment.created',
    details: textOf({ name, filters }),
    apply: (transaction) =>
      stored(
        transaction`
      INSERT INTO segments (site_id, name, filters, created_by) VALUES (${site.id}, ${name}, ${[...filters]}, ${actor.actor})`,
        name,
      ),
  })
}

/** Gives a segment another name, other filters or both. Does nothing if it stays the same, so that the log has only real changes. */
export async function changeSegment(postgres: Postgres, actor: Actor, site: Site, before: Segment, after: Segment) {
  const { name, filters } = checked(after)
  const [from, to] = [textOf(before), textOf({ name, filters })]
  if (from === to) return
  await changeOfSite(postgres, actor, site, {
    action: 'segment.changed',
    details: `${from} → ${to}`,
    apply: (transaction) =>
      stored(
        transaction`
      UPDATE segments SET name = ${name}, filters = ${[...filters]}
      WHERE site_id = ${site.id} AND name = ${before.name}`,
        name,
        before.name,
      ),
  })
}

/** Links and reports that were made from it keep their filters. */
export const removeSegment = (postgres: Postgres, actor: Actor, site: Site, name: string): Promise<void> =>
  changeOfSite(postgres, actor, site, {
    action: 'segment.deleted',
    details: name,
    apply: (transaction) =>
      stored(transaction`DELETE FROM segments WHERE site_id = ${site.id} AND name = ${name}`, name),
  })

function checked({ name, filters }: Segment): Segment {
  const advice = 'Use a few words, such as Pricing from Google.'
  const line = lineOf(name, { what: 'The name of the segment', max: maxSegmentName, advice })
  if (filters.length === 0) throw new InvalidSetting('A segment needs a filter.', 'Filter the dashboard first.')
  return { name: line, filters }
}

const textOf = ({ name, filters }: Segment): string => `${name}: ${filters.join(', ')}`

async function stored(statement: Promise<{ count: number }>, name: string, former = name): Promise<void> {
  try {
    const { count } = await statement
    if (count === 0)
      throw new InvalidSetting(
        `There is no segment ${former}.`,
        'It may have been changed or removed. Look at the list again.',
      )
  } catch (error) {
    const { code, constraint_name: constraint } = error as { code?: string; constraint_name?: string }
    if (code === '23505')
      throw new InvalidSetting(`There is already a segment ${name}.`, 'Choose another name, or change that segment.')
    if (constraint === 'segments_at_most_100')
      throw new InvalidSetting('A site has at most 100 segments.', 'Remove one that nobody needs any more.')
    if (code === '23503') throw new InvalidSetting('The site was deleted.', 'Choose another site.')
    throw error
  }
}
