import type { Revenue } from '../traffic/event.ts'
import { readObject } from './json-object.ts'

/** Of minor units. */
const maxAmount = 1e12

// Currencies of ISO 4217 by the number of their decimals. ANG and BGN ended in 2025: imported traffic has them.
const currencies: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU
    CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW
    KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
    PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS
    VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

const decimalsOf = new Map(
  Object.entries(currencies).flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(decimals)]),
  ),
)

/** Revenue by the rules of decision D-215. `value` is what a client sent: an object, or a text with its JSON. Undefined if it sent none. */
export function readRevenue(value: unknown): Revenue | 'invalid' | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const object = readObject(value)
  if (!object || typeof object.currency !== 'string') return 'invalid'
  const currency = object.currency.toUpperCase()
  const decimals = decimalsOf.get(currency)
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
