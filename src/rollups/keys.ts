// The sort key of rollup rows: `day 3 page 7 blog.example.com`. It consists of span, version, dimension, grouping set and, if the set
// has one, host name. The host name comes last, because it may contain anything. One text replaces five columns, because the time to
// plan a short query grows with its conditions: 7 days of the total took 7.7 times SELECT 1 with eight conditions and 3.1 times with
// one.
import { type Sql, sql, text, uint } from '../stores/clickhouse-sql.ts'
import type { Span } from './coverage.ts'

export const rollupKey = (
  span: Span,
  version: number,
  dimension: string,
  groupingSet: number,
  hostname: string,
): string => `${span} ${version} ${dimension} ${groupingSet} ${hostname}`

/** The SQL expression of `rollupKey`, from the columns of a row. */
export const rollupKeyIn = (span: Span, version: number): Sql =>
  sql`concat(${text(`${span} ${version} `)}, dimension, ' ', toString(grouping_set), ' ', hostname)`

/** All rows of one span and version. */
export const keyStartsWith = (span: Span, version: number): Sql =>
  sql`startsWith(rollup_key, ${text(`${span} ${version} `)})`

/** Versions of an epoch begin with 1024 times its number (decision D-205). */
export const isOfEarlierEpoch = (epoch: number): Sql =>
  sql`toUInt32OrZero(splitByChar(' ', rollup_key)[2]) <= ${uint(1024 * epoch)}`
