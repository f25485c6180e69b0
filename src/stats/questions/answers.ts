// Prepares the answer to a question of any kind.
import { prepareBreakdown } from './breakdown.ts'
import { type Prepared, readingsOf, readTotals, recordOf } from './records.ts'
import type { Reader } from './sources.ts'
import { prepareTimeseries } from './timeseries.ts'
import type { Windows } from './windows.ts'

export function prepareAnswer(reader: Reader, windows: Windows): Prepared {
  const { question } = reader
  if (question.kind === 'breakdown') return prepareBreakdown(reader, question, windows)
  if (question.kind === 'timeseries') return prepareTimeseries(reader, question, windows)
  const [current, compared] = readingsOf(reader, windows)
  return {
    readings: [current, ...(compared ? [compared] : [])],
    async read(clickhouse, signal) {
      const [sums, before] = await Promise.all([
        readTotals(clickhouse, reader, current, signal),
        compared && readTotals(clickhouse, reader, compared, signal),
      ])
      return { data: recordOf(question.metrics, sums, before) }
    },
  }
}
