// Rolls up days again whose rows were written with an older layout, for example without sessions (D-237): the newest chunk of each site, then the
// one before, so that closed days never wait long. For many sites their list takes a second, so it is read again only after all had a turn. Readers
// use the old rows of a day until the new ones are complete.
import { countDays, type DayRange, firstOfMonth, intersect } from '../calendar/days.ts'
import { freeShareOf, maxFullness } from '../cluster/disks.ts'
import type { Stores } from '../cluster/stores.ts'
import { hourMs } from '../durations.ts'
import { isIncomplete } from '../stores/clickhouse.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type Coverage, currentLayout } from './coverage.ts'
import { chunksOf, eventsByDay, rollUpChunk, rollUpMonths } from './roll-up.ts'

export interface OlderLayouts {
  /** Only this site. */
  siteId?: string | undefined
  /** After this many milliseconds no other chunk begins. */
  forMs: number
  signal?: AbortSignal | undefined
  /** Until when a site is left alone that could not be rolled up again, in milliseconds of `performance.now()`. */
  restUntil?: Map<string, number> | undefined
  onError?: ((error: Error, domain: string) => void) | undefined
}

export interface RolledUpAgain {
  days: number
  /** Days that are left: of the site, or of all sites of the shard. */
  left: number
  /** Why no more days are rolled up until an operator acts. */
  held?: string
}

/** Each attempt writes rows under a version of its own, and an epoch has 1,024 (D-205). */
const restMs = hourMs

const diskTooFull = `Days without sessions are not rolled up again: a disk of ClickHouse is more than ${maxFullness * 100} % full`

export async function rollUpOlderLayouts(
  stores: Stores,
  { siteId, forMs, signal, restUntil = new Map(), onError }: OlderLayouts,
): Promise<RolledUpAgain> {
  const { postgres, clickhouse } = stores
  const until = performance.now() + forMs
  let days = 0
  let tried = false
  for (;;) {
    const older = (await sitesWithOlderDays(postgres, clickhouse.shard)).filter(({ id }) => (siteId ?? id) === id)
    let left = older.reduce((sum, { ranges }) => sum + countDays(ranges), 0)
    const due = older.filter(({ id }) => (restUntil.get(id) ?? 0) <= performance.now())
    if (due.length === 0) return { days, left }
    for (const site of due) {
      if (signal?.aborted || (tried && performance.now() > until)) return { days, left }
      const free = await freeShareOf(clickhouse)
      if (free === undefined) return { days, left } // it is down
      if (1 - free > maxFullness) return { days, left, held: diskTooFull }
      tried = true
      try {
        const done = await rollUpNewest(stores, site)
        days += done
        left -= done
      } catch (error) {
        restUntil.set(site.id, performance.now() + restMs)
        onError?.(error as Error, site.domain)
        if (await isIncomplete(clickhouse)) return { days, left }
      }
    }
  }
}

interface Older {
  id: string
  domain: string
  ranges: DayRange[]
}

/** The sites with such days whose events are kept. The site with the newest day comes first. */
const sitesWithOlderDays = (postgres: Postgres, shard: number): Promise<Older[]> => postgres<Older[]>`
  SELECT id, domain, day_ranges(older) AS ranges
  FROM (
    SELECT site_id, range_agg(days) * (SELECT datemultirange(daterange(events_from, NULL)) FROM retention) AS older
    FROM rollup_coverage WHERE layout < ${currentLayout} AND days <> '{}' GROUP BY site_id
  ) AS of_site JOIN sites ON id = site_id
  WHERE older <> '{}' AND shard = ${shard}
  ORDER BY upper(older) DESC, id`

/** The days of a site that are rolled up with an older layout and whose events are kept. */
export const olderDaysOf = ({ versions, eventsFrom }: Coverage): DayRange[] =>
  intersect(
    versions.filter(({ layout }) => layout < currentLayout).flatMap(({ days }) => days),
    [[eventsFrom, '9999-12-31']],
  )

async function rollUpNewest(stores: Stores, { id, ranges }: Older): Promise<number> {
  const [, last] = ranges.at(-1) as DayRange
  const ofMonth = intersect(ranges, [[firstOfMonth(last), last]])
  const chunks = chunksOf(ofMonth, await eventsByDay(stores.clickhouse, id, ofMonth))
  const newest = chunks.at(-1)
  if (newest) await rollUpChunk(stores, id, newest)
  // Rolling up a day takes its month away, which is written again once, after its last day.
  if (chunks.length <= 1) await rollUpMonths(stores, id)
  return countDays(newest?.days ?? [])
}
