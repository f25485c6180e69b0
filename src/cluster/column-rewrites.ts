// Migrations that change the type of a column. The type changes at once, and ClickHouse rewrites the column of existing rows in the
// background, part by part. Reads and inserts work meanwhile (decision D-217).
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text, texts } from '../stores/clickhouse-sql.ts'
import { maxFullness } from './disks.ts'

/** Steps that write less of the disk than this are not refused: they cannot fill it. */
const smallShare = 0.001
/** ClickHouse rewrites a part only if all of it would fit on the disk, times this, although most of its files become hard links. */
const reserve = 1.1

const lookMs = 500
const alterMs = 60_000

/** A column with the type that it gets. */
export interface Column {
  table: string
  name: string
  type: string
}

/** What one ClickHouse has to rewrite. */
export interface Rewriting {
  shard: number
  /** For example `events.pathname`. */
  columns: readonly string[]
  rows: number
  parts: number
  /** Enough for what is written: a column with fewer bytes takes its place. The old one is removed eight minutes later. */
  bytes: number
  /** The share of the disk that is used when everything is written. */
  fullness: number
  /** Whether ClickHouse has room to rewrite the largest part. */
  fits: boolean
  isTooFull: boolean
}

/** No room: the disk would be too full. Busy: replicas rewrite another column, and take the next change of a type only after it. */
export type Obstacle = 'no room' | 'busy'

/** A column cannot be rewritten now. */
export class Postponed extends Error {
  readonly rewriting: Rewriting
  readonly obstacle: Obstacle

  constructor(rewriting: Rewriting, obstacle: Obstacle) {
    super(`${rewriting.columns.join(', ')} cannot be rewritten now: ${obstacle}`)
    this.rewriting = rewriting
    this.obstacle = obstacle
  }
}

/** The column that a statement of a migration rewrites, if it rewrites one. */
export function columnOf(statement: string): Column | undefined {
  const [, table, name, type] = /^ALTER TABLE (\w+) MODIFY COLUMN (\w+) (\S+)/m.exec(statement) ?? []
  return table && name && type ? { table, name, type } : undefined
}

/** What is left to do if these columns get their type, together with what ClickHouse is already working on. */
export async function leftToRewrite(clickhouse: ClickHouse, columns: readonly Column[] = []): Promise<Rewriting> {
  const disks = await clickhouse.rowsPatiently<DiskRow>(sql`
    SELECT
      groupUniqArrayArray(columns) AS columns, sum(rows) AS rows, count() AS parts, sum(bytes) AS bytes,
      max(size) AS largest, any(disks.total_space) AS total, any(disks.free_space) AS free
    FROM
    (
      SELECT
        any(disk_name) AS disk, any(parts.rows) AS rows, any(bytes_on_disk) AS size,
        groupUniqArray(concat(table, '.', column)) AS columns,
        -- All columns of a compact part are in one file, which is written again.
        if(any(part_type) = 'Compact', any(bytes_on_disk), sum(column_bytes_on_disk)) AS bytes
      FROM system.parts_columns AS parts
      INNER JOIN (SELECT table, name AS column, type AS current FROM system.columns WHERE database = currentDatabase()) AS columns
        USING (table, column)
      WHERE database = currentDatabase() AND active
        AND (concat(table, '.', column) IN ${texts(columns.map(nameOf))} AND concat(table, '.', column, ' ', type) NOT IN ${texts(columns.map((column) => `${nameOf(column)} ${column.type}`))}
          -- A part that was inserted while the type changed may keep the old one. ClickHouse reads it well, and nothing rewrites it.
          OR type != current AND table IN (SELECT table FROM system.mutations WHERE database = currentDatabase() AND NOT is_done))
      GROUP BY table, name
    ) AS left
    INNER JOIN system.disks AS disks ON disks.name = left.disk
    GROUP BY disks.name`)
  const sum = (count: (row: DiskRow) => number) => disks.reduce((total, row) => total + count(row), 0)
  return {
    shard: clickhouse.shard,
    columns: [...new Set(disks.flatMap((row) => row.columns))].sort(),
    rows: sum(({ rows }) => rows),
    parts: sum(({ parts }) => parts),
    bytes: sum(({ bytes }) => bytes),
    fullness: Math.max(0, ...disks.map(fullnessOf)),
    fits: disks.every(fits),
    isTooFull: disks.some((row) => isTooFull(row) || !fits(row)),
  }
}

interface DiskRow {
  columns: string[]
  rows: number
  parts: number
  bytes: number
  largest: number
  total: number
  free: number
}

const nameOf = ({ table, name }: Column): string => `${table}.${name}`

const fullnessOf = ({ total, free, bytes }: DiskRow): number => (total - free + bytes) / total

const isTooFull = (row: DiskRow): boolean => fullnessOf(row) > maxFullness && row.bytes > smallShare * row.total

const fits = ({ largest, free }: DiskRow): boolean => reserve * largest <= free

/**
 * Changes the type of a column on all replicas, if it is another one. Does not wait until rows are rewritten, and throws `Postponed`
 * if they cannot be.
 */
export async function changeType(
  column: Column,
  replicas: readonly ClickHouse[],
  { begins, alter }: { begins(rewriting: Rewriting): void; alter(): Promise<void> },
): Promise<void> {
  if (await haveType(column, replicas)) return
  const plans = await Promise.all(replicas.map((replica) => leftToRewrite(replica, [column])))
  for (const plan of plans) {
    if (plan.isTooFull) throw new Postponed(plan, 'no room')
    const isOnlyThis = plan.columns.every((name) => name === nameOf(column))
    if (replicas.length > 1 && !isOnlyThis) throw new Postponed(plan, 'busy')
  }
  begins(plans.reduce((most, plan) => (plan.fullness > most.fullness ? plan : most)))
  await alter()
  // ClickHouse refuses the next change on a replica that does not know this one yet.
  for (const began = Date.now(); !(await haveType(column, replicas)); await sleep(lookMs)) {
    if (Date.now() - began > alterMs)
      throw new Error(`A replica of the shard does not change the type of ${nameOf(column)}`)
  }
}

/** A replica without tables gets them later, as they are on the others. */
async function haveType({ table, name, type }: Column, replicas: readonly ClickHouse[]): Promise<boolean> {
  const others = await Promise.all(
    replicas.map((replica) =>
      replica.rows(sql`
        SELECT 1 FROM system.columns
        WHERE database = currentDatabase() AND table = ${text(table)} AND name = ${text(name)} AND type != ${text(type)}`),
    ),
  )
  return others.flat().length === 0
}

/** Waits until a server has rewritten everything that it is working on. `isReplica`: its shard has other servers. */
export async function untilRewritten(
  clickhouse: ClickHouse,
  isReplica: boolean,
  watch: (left: Rewriting) => void,
): Promise<void> {
  // A replica may know the new type a moment before it knows what to rewrite, so it is done only when two looks in a row find nothing.
  const looks = isReplica ? 2 : 1
  for (let idleLooks = 0; idleLooks < looks; ) {
    if (idleLooks > 0) await sleep(lookMs)
    const left = await leftToRewrite(clickhouse)
    watch(left)
    idleLooks = left.parts === 0 ? idleLooks + 1 : 0
    if (left.parts === 0) continue
    await refuseIfStuck(clickhouse, left)
    await sleep(lookMs)
  }
}

/** ClickHouse would wait for room, or try again, for ever. */
async function refuseIfStuck(clickhouse: ClickHouse, left: Rewriting): Promise<void> {
  const [state] = await clickhouse.rowsPatiently<{ running: number; reason: string }>(sql`
    SELECT
      (SELECT count() FROM system.merges WHERE database = currentDatabase() AND is_mutation) AS running,
      (SELECT any(latest_fail_reason) FROM system.mutations
       WHERE database = currentDatabase() AND NOT is_done AND latest_fail_reason != '') AS reason`)
  if (!left.fits && state?.running === 0) throw new Postponed(left, 'no room')
  if (state?.reason) throw new Error(`ClickHouse cannot rewrite ${left.columns.join(', ')}: ${state.reason}`)
}
