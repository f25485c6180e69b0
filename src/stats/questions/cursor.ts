// The cursor of a breakdown: the last row of a page, and the current time of the first page, so that all pages are about the same hits.
import { ApiError } from '../../errors.ts'
import type { RowKey } from './question.ts'

export interface Page {
  /** UTC milliseconds. */
  now: number
  after: RowKey
}

export const cursorOf = ({ now, after: { numbers, value } }: Page): string =>
  Buffer.from(JSON.stringify([now, numbers, value])).toString('base64url')

export function readPage(text: string, metrics: number): Page {
  const page = pageOf(text)
  if (!page || page.after.numbers.length !== metrics || cursorOf(page) !== text)
    throw new ApiError('invalid_parameter', 'cursor must be a next_cursor of the same question, as it was received.')
  return page
}

function pageOf(text: string): Page | undefined {
  try {
    const [now, numbers, value] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, number[], string]
    const isRight = isTime(now) && numbers.every(Number.isSafeInteger) && typeof value === 'string'
    return isRight ? { now, after: { numbers, value } } : undefined
  } catch {
    return undefined // no cursor of ours
  }
}

/** Between 1970 and 9999: other numbers are no time that we sent. */
const isTime = (now: unknown): boolean =>
  Number.isSafeInteger(now) && (now as number) >= 0 && (now as number) < 253_402_300_800_000
