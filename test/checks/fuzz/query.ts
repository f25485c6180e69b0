// Query strings as the contract reads them: names, values and dates, implemented a second time without src.
import { dateOf, hundredYearsAfter } from './calendar.ts'

export const ranges = ['24h', '7d', '30d', '90d', '12m', 'custom']

/** Every value of every name, in order; undefined for a value that cannot be decoded. */
export type Query = Map<string, (string | undefined)[]>

export function readQuery(text: string): Query {
  const query: Query = new Map()
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const [rawName = '', ...rest] = pair.split('=')
    const name = decoded(rawName.replaceAll('+', ' ')) ?? rawName
    query.set(name, [...(query.get(name) ?? []), decoded(rest.join('=').replaceAll('+', ' '))])
  }
  return query
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined
  const bytes = Buffer.from(
    text.replace(/%(..)/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** A name without its case and the brackets at its end. */
export const nameMeant = (name: string): string => (/^([^[]*)\[.*\]$/s.exec(name)?.[1] ?? name).toLowerCase()

export const ours = ['range', 'start', 'end', 'limit', 'country', 'device', 'hostname', 'utm_source', 'site_id']

/** Our parameter names in another spelling (D-56). */
export const hasVariants = (query: Query, names = ours): boolean =>
  [...query.keys()].some((name) => !names.includes(name) && names.includes(nameMeant(name)))

/** Labels of letters, digits, hyphen and underscore; beyond ASCII, what browsers accept in labels (D-52). */
export function isHostName(value: string): boolean {
  const isAscii = [...value].every((character) => character < '\u0080')
  if (!isAscii && /[^a-z0-9_.-]/i.test(value.replace(/[\u0080-\u{10ffff}]/gu, ''))) return false
  const name = isAscii ? value : (URL.parse(`http://${value}`)?.hostname ?? '')
  const labels = (name.endsWith('.') ? name.slice(0, -1) : name).split('.')
  return labels.join('.').length <= 253 && labels.every((label) => /^[a-z0-9_-]+$/i.test(label))
}

export const hasControls = (value: string): boolean =>
  [...value].some((character) => {
    const code = character.codePointAt(0) as number
    return code < 0x20 || (code >= 0x7f && code < 0xa0)
  })

/** Decisions D-36 and D-54. */
export function areDatesValid(query: Query, range: string, today: string, hasPeriod = true): boolean {
  const [start, end] = ['start', 'end'].map((name) => {
    const values = query.get(name)
    return values && (values.length === 1 ? dateOf(values[0] ?? '') : undefined)
  })
  if ((query.has('start') && !start) || (query.has('end') && !end)) return false
  if (range !== 'custom') return true
  if (!start || !end || start > end) return false
  if (!hasPeriod) return true
  const last = [end, today].sort()[0] as string
  return start > today || last < hundredYearsAfter(start)
}
