// The cursor of a list of sites: the last domain of a page. A number would skip or repeat sites when others are added or deleted meanwhile.
import { ApiError } from '../errors.ts'

const mark = 'after '

/** An opaque text that clients send back unchanged (decision D-191). */
export const cursorAfter = (domain: string): string => Buffer.from(mark + domain).toString('base64url')

export function readCursor(text: string): string {
  const domain = Buffer.from(text, 'base64url').toString().slice(mark.length)
  if (domain === '' || cursorAfter(domain) !== text)
    throw new ApiError('invalid_parameter', 'cursor must be a next_cursor of this endpoint, as it was received.')
  return domain
}
