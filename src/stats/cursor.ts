// Where the next page of a list of sites begins. A domain, not a number: sites that come or go between two pages move no other site.
import { ApiError } from '../errors.ts'

const mark = 'after '

/** A text that clients send back as it is (decision D-191). */
export const cursorAfter = (domain: string): string => Buffer.from(mark + domain).toString('base64url')

export function readCursor(text: string): string {
  const domain = Buffer.from(text, 'base64url').toString().slice(mark.length)
  if (domain === '' || cursorAfter(domain) !== text)
    throw new ApiError('invalid_parameter', 'cursor must be a next_cursor of this endpoint, as it was received.')
  return domain
}
