// The streams of live pages: at most five per user, and each ends within a second of its session or membership (decision D-241).
import { createEventStreams, type EventStreams } from '../process/event-streams.ts'
import { within } from '../stores/deadline.ts'
import type { Postgres } from '../stores/postgres.ts'
import { stillWatching, type Watching } from '../users/sessions.ts'

const maxPerUser = 5
/** A stream that nobody can vouch for ends. The page comes again, and meets the gate. */
const maxCheckMs = 500

/** One statement several times per second vouches for all streams of this process; without streams there is none. */
export const createLiveStreams = (postgres: Postgres, isEnding: () => boolean): EventStreams<Watching> =>
  createEventStreams({
    maxPerOwner: maxPerUser,
    isEnding,
    stillAllowed: (all) => within(maxCheckMs, 'PostgreSQL', stillWatching(postgres, all)),
  })
