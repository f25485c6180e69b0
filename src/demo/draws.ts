// Random choices in SQL. A hash is the random number; these functions turn it into a choice.
import { join, type Sql, sql, uint, uints } from '../stores/clickhouse-sql.ts'

/** From 0 to below 1. */
export const uniform = (hash: Sql): Sql => sql`(bitShiftRight(${hash}, 11) / 9007199254740992)`

/** An index from 1, chosen by weight. */
export function pick(hash: Sql, weights: readonly number[]): Sql {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return indexOf(sql`${hash} % ${uint(total)}`, runningSums(weights))
}

/** The index (from 1) of the last value that is not above the number. The values are in rising order. */
export function indexOf(number: Sql, rising: readonly number[]): Sql {
  const indexes = rising.map((_, index) => index + 1)
  return sql`transform(roundDown(${number}, ${uints(rising)}), ${uints(rising)}, ${uints(indexes)}, toUInt64(1))`
}

/** A rank from 1 to the count. Low ranks are far more frequent: the density falls with the rank to the power of 0.85. */
export const longTailed = (hash: Sql, count: number): Sql =>
  sql`toUInt64(pow(${uniform(hash)} * (pow(${uint(count + 1)}, 0.15) - 1) + 1, 1 / 0.15))`

/**
 * Nests SELECTs: each step may use the names of the steps before it. ClickHouse expands a name wherever the same SELECT uses it: it
 * took 0.5 s to analyse one flat SELECT of a session, and 0.1 s for these steps.
 */
export const stepwise = (from: Sql, ...steps: readonly (readonly Sql[])[]): Sql =>
  steps.reduce((inner, columns) => sql`(SELECT *, ${join(columns, sql`, `)} FROM ${inner})`, from)

function runningSums(values: readonly number[]): number[] {
  let sum = 0
  return values.map((value) => {
    sum += value
    return sum - value
  })
}
