// What a run finds out; docs/scale.json is one, and docs/scale.md is written from it.
import type { Spread } from '../api/measure.ts'
import type { FoldCost } from './folding.ts'
import type { InsertResult } from './inserting.ts'
import type { Cell, Compared } from './latency.ts'
import type { LimitsResult } from './limits.ts'
import type { ThroughputResult } from './throughput.ts'

export interface Measured {
  measuredAt: string
  machine: { cpu: string; cores: number; memoryGiB: number; steal: number; busy: number }
  /** Events really made: of the whale, a tenth and a hundredth of it, and all small sites together. */
  sizes: { whale: number; tenth: number; hundredth: number; small: number; smallSites: number }
  bytes: { raw: number; folded: number; titles: number; foldedRows: number }
  /** Pieces that a range of each table is read from, and rows in the smallest piece that can be read. */
  parts: { events: number; short: number; long: number; granule: { events: number; folded: number } }
  /** `today` is the half of the whale's day that has passed, counted once. */
  folding: { whale: FoldCost; small: FoldCost; today: FoldCost }
  inserting: InsertResult
  /** `SELECT 1`, milliseconds. */
  floor: Spread
  rounds: number
  cells: Cell[]
  compared: Compared[]
  /** A site of ten events a day: p10 against the floor, geometric mean over endpoints; rows folded for it. */
  tiny: { ratio: number; foldedRows: number; events: number }
  limits: LimitsResult
  throughput: ThroughputResult
  /** Of the engine, at the end. */
  residentMiB: number
}

export interface Judgement {
  name: string
  value: number
  bound: string
  /** Null: stated only, or not judged at this size. */
  ok: boolean | null
}

export interface ScaleResult extends Measured {
  bench: 'scale'
  seconds: number
  judgements: Judgement[]
  short: string[]
  ok: boolean
}
