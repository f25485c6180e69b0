// Reads ClickHouse as the API does, and counts what that takes. It keeps the last statements, for a difference that they show.
import type { ClickHouse, ClickHouseReader } from '../stores/clickhouse.ts'
import { render } from '../stores/clickhouse-sql.ts'

export interface Meter extends ClickHouseReader {
  /** How long ClickHouse has worked, in milliseconds of one thread. */
  spentMs(): number
  /** The statements since the last call, with their values. */
  takeStatements(): string
}

/** A day of a large site may take a while: the pause afterwards is so much longer. */
const settings = { max_threads: 1, max_execution_time: 60, max_memory_usage: '1000000000', log_queries: 0 } as const

/** What a row of recount_differences has room for. */
const maxText = 20_000

export function meter(clickhouse: ClickHouse, signal: AbortSignal): Meter {
  let spentMs = 0
  let statements: string[] = []
  return {
    async rows(statement) {
      signal.throwIfAborted()
      const { text, parameters } = render(statement)
      statements.push(`${text.trim()}\n-- ${JSON.stringify(parameters)}`)
      return clickhouse.rowsPatiently(statement, settings, (milliseconds) => {
        spentMs += milliseconds
      })
    },
    spentMs: () => spentMs,
    takeStatements() {
      const text = statements.join(';\n\n')
      statements = []
      return text.slice(0, maxText)
    },
  }
}
