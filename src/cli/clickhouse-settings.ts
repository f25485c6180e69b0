// Checks whether ClickHouse runs with the settings of deploy/clickhouse. ClickHouse ignores a file in the wrong folder without a message,
// so we ask the server itself. With default settings, one public report counted 3.9 GB of system logs for 20 kB of data on a small machine.
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, texts } from '../stores/clickhouse-sql.ts'

/** With more memory, ClickHouse is assumed to have its own machine, and only its logs are checked. */
const smallMachineBytes = 8e9

/** The highest values for a small machine. deploy/clickhouse sets exactly these; a test compares the two. */
export const serverLimits: Readonly<Record<string, number>> = {
  mark_cache_size: 134_217_728,
  index_mark_cache_size: 16_777_216,
  primary_index_cache_size: 67_108_864,
  uncompressed_cache_size: 0,
  compiled_expression_cache_size: 33_554_432,
  max_concurrent_queries: 100,
  background_pool_size: 4,
  background_schedule_pool_size: 8,
  background_common_pool_size: 2,
  background_fetches_pool_size: 1,
  background_move_pool_size: 1,
  background_buffer_flush_schedule_pool_size: 1,
  background_distributed_schedule_pool_size: 1,
  background_message_broker_schedule_pool_size: 1,
}

/** The highest values of profile settings, which belong in users.d. */
export const profileLimits: Readonly<Record<string, number>> = {
  max_threads: 2,
  max_insert_threads: 1,
  query_profiler_real_time_period_ns: 0,
  query_profiler_cpu_time_period_ns: 0,
}

export interface NotInForce {
  /** Each setting that is too large, with its value and the value in deploy/clickhouse; empty on a large machine. */
  settings: string[]
  /** System logs that grow for ever, because they have no TTL. */
  logs: string[]
}

export async function settingsNotInForce(clickhouse: ClickHouse): Promise<NotInForce> {
  const [memory, server, profile, logs] = await Promise.all([
    clickhouse.rows<{ bytes: string }>(
      sql`SELECT value AS bytes FROM system.server_settings WHERE name = 'max_server_memory_usage'`,
    ),
    clickhouse.rows<Setting>(
      sql`SELECT name, value FROM system.server_settings WHERE has(${texts(Object.keys(serverLimits))}, name)`,
    ),
    clickhouse.rows<Setting>(
      sql`SELECT name, value FROM system.settings WHERE has(${texts(Object.keys(profileLimits))}, name)`,
    ),
    clickhouse.rows<{ name: string; bytes: number }>(sql`
      SELECT name, ifNull(total_bytes, 0) AS bytes FROM system.tables
      WHERE database = 'system' AND name LIKE '%\\_log%' AND engine LIKE '%MergeTree' AND engine_full NOT LIKE '% TTL %'
      ORDER BY bytes DESC, name`),
  ])
  const isSmall = Number(memory[0]?.bytes ?? 0) <= smallMachineBytes
  return {
    settings: isSmall ? [...exceeding(server, serverLimits), ...exceeding(profile, profileLimits)] : [],
    logs: logs.map(({ name, bytes }) => `${name} (${Math.round(bytes / 1e6)} MB)`),
  }
}

interface Setting {
  name: string
  value: string
}

const exceeding = (settings: readonly Setting[], limits: Readonly<Record<string, number>>): string[] =>
  settings
    // `max_threads` may be `auto(8)`.
    .map(({ name, value }) => ({ name, value: Number(/\d+/.exec(value)?.[0] ?? 0) }))
    .filter(({ name, value }) => value > (limits[name] ?? Number.POSITIVE_INFINITY))
    .map(({ name, value }) => `${name} ${value} (${limits[name]})`)
