import { sql } from '../stores/clickhouse-sql.ts'

/**
 * Columns of a statement that groups events by session: whether the session bounced, which means one pageview and no custom event, and
 * how long it lasted. rollups/verify.ts has its own statement, because it checks this one.
 */
export const sessionColumns = sql`
          count() = 1 AND any(events.name = 'pageview') AS bounced,
          toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(min(time)) AS milliseconds`
