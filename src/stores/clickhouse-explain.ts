// FOOTFALL_EXPLAIN: logs what every statement of an API process does. For development only: parameters contain client input.
import type { Logger } from 'pino'
import type { Statement } from './clickhouse-sql.ts'

export interface QueryRequest {
  query: string
  query_params?: Statement['parameters']
}

interface Answer {
  response_headers: Record<string, unknown>
}

/** `readPlan` runs an EXPLAIN. No request waits for it: it runs after the answer. */
export const explainTo =
  (log: Logger, readPlan: (request: QueryRequest) => Promise<{ explain: string }[]>) =>
  async (request: QueryRequest, answer: Promise<Answer>): Promise<void> => {
    const began = performance.now()
    const query = { statement: unindented(request.query), parameters: request.query_params ?? {} }
    try {
      const { response_headers: headers } = await answer
      const milliseconds = Math.round((performance.now() - began) * 10) / 10
      // The summary is complete, because ClickHouse sends headers at the end (wait_end_of_query).
      const { read_rows, read_bytes } = JSON.parse(String(headers['x-clickhouse-summary'])) as Record<string, string>
      const plan = await readPlan({ ...request, query: `EXPLAIN indexes = 1 ${request.query}` })
      const read = { rowsRead: Number(read_rows), bytesRead: Number(read_bytes) }
      log.info({ ...query, plan: plan.map(({ explain }) => explain).join('\n'), milliseconds, ...read }, 'ClickHouse')
    } catch (error) {
      log.info({ ...query, err: error }, 'ClickHouse query failed')
    }
  }

/** Removes the indentation of the source code. */
const unindented = (text: string): string => text.trim().replace(/\s*\n\s*/g, '\n')
