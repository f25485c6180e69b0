import { decimalsOf } from '../traffic/currency.ts'
import type { Revenue } from '../traffic/event.ts'
import { readObject } from './json-object.ts'

/** Of minor units. */
const maxAmount = 1e12

/** Revenue by the rules of decision D-215. `value` is what a client sent: an object, or a text with its JSON. Undefined if it sent none. */
export function readRevenue(value: unknown): Revenue | 'invalid' | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const object = readObject(value)
  if (!object || typeof object.currency !== 'string') return 'invalid'
  const currency = object.currency.toUpperCase()
  const decimals = decimalsOf(currency)
  if (decimals === undefined) return 'invalid'
  const amount = readAmount(object.amount, decimals)
  return amount === undefined ? 'invalid' : { amount, currency }
}

/** Moves the decimal point in the text, because 19.9 * 100 is 1989.9999999999998. */
function readAmount(value: unknown, decimals: number): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const [, whole = '', fraction = ''] = /^(\d{1,13})(?:\.(\d{1,4}))?$/.exec(String(value)) ?? []
  if (whole === '' || fraction.length > decimals) return undefined
  const amount = Number(whole + fraction.padEnd(decimals, '0'))
  return amount <= maxAmount ? amount : undefined
}
