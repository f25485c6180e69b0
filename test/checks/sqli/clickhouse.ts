// Sends hostile strings through the sql tag to ClickHouse and back, as each kind of text parameter.
import { ClickHouseError } from '@clickhouse/client'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { date, join, type Sql, sql, text, texts } from '../../../src/stores/clickhouse-sql.ts'
import type { Random } from '../../support/random.ts'
import type { Check } from '../runner.ts'
import { hostileString } from './strings.ts'

/** ClickHouse accepts values of 128 kB. An escaped byte takes two, a backslash in an array four, and the last string may be long. */
const maxEscapedBytes = 50_000
const maxSingles = 100

const syntaxError = '62'

export interface ClickHouseCounts {
  values: number
  equal: number
  /** Lone surrogates, which UTF-8 encoding turns into U+FFFD. */
  surrogates: number
  statements: number
  syntaxErrors: number
}

interface Returned {
  value: string
}

/** Sends `n` strings, in batches as an array parameter and as single parameters, and expects each back unchanged. */
export async function roundTrip(
  check: Check,
  clickhouse: ClickHouse,
  random: Random,
  n: number,
): Promise<ClickHouseCounts> {
  const counts: ClickHouseCounts = { values: 0, equal: 0, surrogates: 0, statements: 0, syntaxErrors: 0 }
  const next = batches(random, n)
  const began = performance.now()
  let told = began
  async function lane(): Promise<void> {
    for (const batch of next) {
      const isArray = batch.length > maxSingles
      await compare(check, clickhouse, batch, isArray ? asArray(batch) : asSingles(batch), counts)
      if (performance.now() - told > 5_000) {
        told = performance.now()
        check.say(`${counts.values} values, ${Math.round(counts.values / ((told - began) / 1000))}/s`)
      }
    }
  }
  await Promise.all([lane(), lane()])
  return counts
}

/** Every fifth batch is small, for single parameters. */
function* batches(random: Random, n: number): Generator<string[]> {
  for (let [made, number] = [0, 0]; made < n; number++) {
    const most = number % 5 === 0 ? maxSingles : Number.POSITIVE_INFINITY
    const batch: string[] = []
    for (let bytes = 0; bytes < maxEscapedBytes && batch.length < most && made < n; made++) {
      const value = hostileString(random)
      batch.push(value)
      bytes += 2 * Buffer.byteLength(value) + 4
    }
    yield batch
  }
}

const asArray = (batch: readonly string[]): Sql => sql`SELECT arrayJoin(${texts(batch)}) AS value`

const asSingles = (batch: readonly string[]): Sql =>
  sql`SELECT arrayJoin([${join(
    batch.map((value) => sql`${text(value)}`),
    sql`, `,
  )}]) AS value`

async function compare(
  check: Check,
  clickhouse: ClickHouse,
  batch: string[],
  statement: Sql,
  counts: ClickHouseCounts,
): Promise<void> {
  counts.statements++
  let rows: Returned[]
  try {
    rows = await clickhouse.rows<Returned>(statement)
  } catch (error) {
    if ((error as ClickHouseError).code === syntaxError) counts.syntaxErrors++
    check.fault(
      `ClickHouse refused a batch: ${codeOf(error)}`,
      String(error).slice(0, 300),
      ...batch.slice(0, 3).map(quoted),
    )
    return
  }
  counts.values += batch.length
  if (rows.length !== batch.length) check.fault('a wrong number of values', `${batch.length} sent, ${rows.length} back`)
  for (const [at, sent] of batch.entries()) {
    const back = rows[at]?.value
    if (!sent.isWellFormed()) counts.surrogates++
    if (back === sent.toWellFormed()) counts.equal++
    else check.fault('a value came back changed', `sent ${quoted(sent)}`, `back ${quoted(back ?? '')}`)
  }
}

/** A string in place of a date is refused as a value: it never becomes part of a statement. */
export async function refuseAsDates(
  check: Check,
  clickhouse: ClickHouse,
  random: Random,
  count: number,
): Promise<number> {
  let refused = 0
  for (let at = 0; at < count; at++) {
    const value = `x${hostileString(random).slice(0, 200)}`
    try {
      await clickhouse.rows(sql`SELECT ${date(value)} AS value`)
      check.fault('accepted as a date', quoted(value))
    } catch (error) {
      if (error instanceof ClickHouseError && error.code !== syntaxError) refused++
      else check.fault(`not refused as a date: ${codeOf(error)}`, quoted(value), String(error).slice(0, 300))
    }
  }
  return refused
}

const codeOf = (error: unknown): string => (error instanceof ClickHouseError ? error.code : (error as Error).name)

export const quoted = (value: string): string => JSON.stringify(value.slice(0, 300))
