// Every table of ClickHouse, once. Only `migrations`, which each server has for itself, is not here.
import { sql } from '../stores/clickhouse-sql.ts'

/** Recorded data, which cannot be computed again. */
const recordedTables = { events: sql`events`, titles: sql`titles` }

/** Can be computed again as long as the events of their days are kept. */
export const rollupTables = { short_rollups: sql`short_rollups`, long_rollups: sql`long_rollups` }

/** The tables that a move copies and a backup contains. The others are written again. */
export const lastingTables = { ...recordedTables, ...rollupTables }

/** Every table with rows of a site. */
export const siteTables = { ...lastingTables, today_rollups: sql`today_rollups`, kept_days: sql`kept_days` }

export const tables = { ...siteTables, ledger: sql`ledger` }

/** A clone of a table, which a backup reads (traffic/snapshot.ts), has the name of the table with this prefix. */
export const clonePrefix = 'backup_of_'
