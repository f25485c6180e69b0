// Every table of ClickHouse, once. Only `migrations`, which each server has for itself, is not here.
import { sql } from '../stores/clickhouse-sql.ts'

/** Recorded data, which cannot be computed again. */
const recordedTables = { events: sql`events`, titles: sql`titles`, imported_sums: sql`imported_sums` }

/** Can be computed again as long as the events of their days are kept. */
export const rollupTables = { short_rollups: sql`short_rollups`, long_rollups: sql`long_rollups` }

/** The tables of a backup. `sessions` are only of days whose events are kept, so after a restore they are written again. */
export const backupTables = { ...recordedTables, ...rollupTables }

/** The tables that a move copies. The others are written again. */
export const lastingTables = { ...backupTables, sessions: sql`sessions` }

/** Every table with rows of a site. */
export const siteTables = { ...lastingTables, today_rollups: sql`today_rollups`, kept_days: sql`kept_days` }

export const tables = { ...siteTables, ledger: sql`ledger` }

/** The tables with a partition per month, which retention drops together. */
export const monthlyTables = { sessions: lastingTables.sessions, events: lastingTables.events }

/** A clone of a table, which a backup reads (traffic/snapshot.ts), has the name of the table with this prefix. */
export const clonePrefix = 'backup_of_'
