import type { Range } from '../../calendar/periods.ts'
import type { Goal } from '../../traffic/goals.ts'
import type { Dimension } from './dimensions.ts'
import type { Filter } from './filters.ts'
import type { Metric } from './metrics.ts'

export const questionKinds = ['totals', 'timeseries', 'breakdown'] as const

export type QuestionKind = (typeof questionKinds)[number]

export const intervals = ['hour', 'day', 'week', 'month'] as const

export type Interval = (typeof intervals)[number]

/** The window to compare with. `days` are shifted by whole weeks with `match=weekday`. */
export type Comparison =
  | { to: 'previous' | 'year'; matchWeekday: boolean }
  | { to: 'days'; firstDay: Temporal.PlainDate; lastDay: Temporal.PlainDate }

interface Asked {
  range: Range
  metrics: readonly [Metric, ...Metric[]]
  filters: readonly Filter[]
  /** What `conversions` count. */
  goal?: Goal | undefined
  compare?: Comparison | undefined
}

interface Totals extends Asked {
  kind: 'totals'
}

export interface Timeseries extends Asked {
  kind: 'timeseries'
  interval: Interval
}

export interface Breakdown extends Asked {
  kind: 'breakdown'
  by: Dimension
  order: Order
  limit: number
  /** The last row of the page before. */
  after?: RowKey | undefined
}

export type Question = Totals | Timeseries | Breakdown

interface Order {
  /** The place of the metric among `metrics`. */
  metric: number
  ascending: boolean
}

/** What a row is sorted by: its printed numbers, times ten for each decimal, and its value. */
export interface RowKey {
  numbers: readonly number[]
  value: string
}
