import { deadlineFactor } from '../stores/deadline.ts'
import { Refusal } from './refusals.ts'

/** Longer than any request takes unless a store hangs: the driver of PostgreSQL has no time limit. */
const maxAnswerMs = 12_000 * deadlineFactor

export async function inTime<Value>(work: Promise<Value>, maxMs = maxAnswerMs): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Refusal('late')), maxMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
