// The result of a run. docs/scale.json is one, and docs/scale.md is generated from it.
import type { Spread } from '../api/measure.ts'
import type { ColumnBytes } from './columns.ts'
import type { InsertResult } from './inserting.ts'
import type { Cell, Compared } from './latency.ts'
import type { LimitsResult } from './limits.ts'
import type { RollupCost } from './rollups.ts'
import type { ThroughputResult } from './throughput.ts'

export interface Measured {
  measuredAt: string
  machine: { cpu: string; cores: number; memoryGiB: number; steal: number; busy: number }
  /** Events actually generated: for the whale, a tenth and a hundredth of it, and all small sites together. */
  sizes: { whale: number; tenth: number; hundredth: number; small: number; smallSites: number }
  bytes: { raw: number; rolledUp: number; titles: number; rollupRows: number }
  columns: ColumnBytes
  /** The parts that a range of each table is read from, and the rows in the smallest unit of reading. */
  parts: { events: number; short: number; long: number; granule: { events: number; rolledUp: number } }
  /** `today` is the past half of the whale's day, counted once. */
  rollups: { whale: RollupCost; small: RollupCost; today: RollupCost }
  inserting: InsertResult
  /** Milliseconds of `SELECT 1`. */
  floor: Spread
  rounds: number
  cells: Cell[]
  compared: Compared[]
  /** A site with ten events per day: p10 against the floor, geometric mean over endpoints; its rollup rows. */
  tiny: { ratio: number; rollupRows: number; events: number }
  limits: LimitsResult
  throughput: ThroughputResult
  /** Memory of ClickHouse at the end. */
  residentMiB: number
}

export interface Judgement {
  name: string
  value: number
  bound: string
  /** Null: only stated, or not judged at this size. */
  ok: boolean | null
}

export interface ScaleResult extends Measured {
  bench: 'scale'
  seconds: number
  judgements: Judgement[]
  short: string[]
  ok: boolean
}
