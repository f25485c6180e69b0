// Whether two sides answer the same, how far apart they are if not, and why.
import { round } from '../api/measure.ts'
import type { Answer, Numbers, QuestionName } from './questions.ts'
import type { Reason } from './side.ts'

export interface Difference {
  /** Numbers that were compared. */
  compared: number
  different: number
  /** The largest difference in percent of Footfall's number. */
  percent: number
  reasons: string[]
  /** Differences without a reason. */
  unexplained: string[]
}

/** `wide` has Footfall's rows, also those that it ranks lower. A row that is missing there counts as 0. */
export function difference(
  wide: Answer,
  theirs: Answer,
  { question, reasons }: { question: QuestionName; reasons: readonly Reason[] },
): Difference {
  const found: Difference = { compared: 0, different: 0, percent: 0, reasons: [], unexplained: [] }
  for (const [value, numbers] of theirs) {
    const ours = wide.get(value)
    for (const [name, number] of Object.entries(numbers) as [keyof Numbers, number][]) {
      const own = ours ? ours[name] : 0
      if (own === undefined) continue // Footfall's report does not have this number
      found.compared++
      if (own === number) continue
      const percent = own === 0 ? 100 : round((100 * Math.abs(number - own)) / own, 2)
      found.different++
      found.percent = Math.max(found.percent, percent)
      const reason = reasons.find(
        ({ questions, numbers: about, above = 0, within = Number.POSITIVE_INFINITY }) =>
          (questions?.includes(question) ?? true) &&
          (about?.includes(name) ?? true) &&
          own >= above &&
          percent <= within,
      )
      if (!reason) found.unexplained.push(`${value} ${name}: ${number} instead of ${own}`.trim())
      else if (!found.reasons.includes(reason.why)) found.reasons.push(reason.why)
    }
  }
  return found
}
