import { sql } from '../stores/clickhouse-sql.ts'

/**
 * What a session counts for, in a statement that groups events by session: whether it is a bounce, which is one pageview and no custom
 * event, and how long it lasted. rollups/verify.ts counts in words of its own, because it checks this.
 */
export const sessionColumns = sql`
          count() = 1 AND any(events.name = 'pageview') AS bounced,
          toUnixTimestamp64Milli(max(time)) - toUnixTimestamp64Milli(min(time)) AS milliseconds`
