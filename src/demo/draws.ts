// How chance is written in a statement. A hash is what is drawn; these turn one into a choice.
import { join, type Sql, sql, uint, uints } from '../stores/clickhouse-sql.ts'

/** From 0 to below 1. */
export const uniform = (hash: Sql): Sql => sql`(bitShiftRight(${hash}, 11) / 9007199254740992)`

/** An index from 1, by weight. */
export function pick(hash: Sql, weights: readonly number[]): Sql {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return indexOf(sql`${hash} % ${uint(total)}`, runningSums(weights))
}

/** Of values in rising order, the index (from 1) of the last that is not above the number. */
export function indexOf(number: Sql, rising: readonly number[]): Sql {
  const indexes = rising.map((_, index) => index + 1)
  return sql`transform(roundDown(${number}, ${uints(rising)}), ${uints(rising)}, ${uints(indexes)}, toUInt64(1))`
}

/** A rank from 1 to the count, the first ones far more often: the density falls with the rank to the power of 0.85. */
export const longTailed = (hash: Sql, count: number): Sql =>
  sql`toUInt64(pow(${uniform(hash)} * (pow(${uint(count + 1)}, 0.15) - 1) + 1, 1 / 0.15))`

// A name used within its own SELECT is written out wherever it stands: one flat SELECT of a session took the engine 0.5 s to
// understand, these steps 0.1 s.
/** `SELECT` over `SELECT`: each step may use the names of those before it. */
export const stepwise = (from: Sql, ...steps: readonly (readonly Sql[])[]): Sql =>
  steps.reduce((inner, columns) => sql`(SELECT *, ${join(columns, sql`, `)} FROM ${inner})`, from)

function runningSums(values: readonly number[]): number[] {
  let sum = 0
  return values.map((value) => {
    sum += value
    return sum - value
  })
}
