import { sql } from '../stores/clickhouse-sql.ts'

/** How long a session lasted, of a statement that groups events by session. */
export const sessionDuration = sql`toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(min(time))`

/**
 * Columns of a statement that groups events by session: whether the session bounced, which means one pageview and no custom event, and
 * how long it lasted. rollups/verify.ts has its own statement, because it checks this one.
 */
export const sessionColumns = sql`
          count() = 1 AND any(events.name = 'pageview') AS bounced,
          ${sessionDuration} AS milliseconds`
