import { hash } from 'node:crypto'

/** A UUID (version 8) derived from a text. The same text gives the same id, so a batch that is written again keeps its id. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}
