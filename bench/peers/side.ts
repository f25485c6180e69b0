// One product with tables of its own, filled with the same traffic.
import type { Answer, Numbers, Question, QuestionName } from './questions.ts'

export interface Side {
  name: string
  /** Where its tables and statements were read. */
  source: string
  /** Undefined: the product cannot be asked this. */
  ask(question: Question): Promise<Answer> | undefined
  bytes(): Promise<number>
  /** CPU seconds of the servers to write all events. */
  writing: number
  /** Why its numbers may differ from Footfall's. A difference without a reason is a fault. */
  reasons: readonly Reason[]
}

export interface Reason {
  why: string
  /** All questions, if not given. */
  questions?: readonly QuestionName[]
  /** All numbers, if not given. */
  numbers?: readonly (keyof Numbers)[]
  /** Only numbers that are larger. */
  above?: number
  /** The largest difference in percent. */
  within?: number
}

/** It hashes values to 32 bits, and keeps 65,536 of them at most. */
export const estimates: Reason = {
  why: '`uniq` of ClickHouse estimates large numbers',
  numbers: ['visitors', 'sessions', 'bounceRate', 'duration'],
  above: 1_000,
  within: 2,
}
