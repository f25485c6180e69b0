// Dates and country codes for the oracle: plain text and arithmetic, without Temporal and without the tables of src.

/** The date in a text: `YYYY-MM-DD`, with or without hyphens, or the date of an ISO 8601 date-time (decision D-54). */
export function dateOf(text: string): string | undefined {
  const parts = extended.exec(text) ?? basic.exec(text)
  if (!parts) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHours = 0, offsetMinutes = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0))
  if (year === 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  // The standard allows a leap second.
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return undefined
  return `${parts[1]}-${parts[2]}-${parts[3]}`
}

const offset = '(?:[Zz]|[+-](\\d\\d)(?::?(\\d\\d))?)?'
const written = (hyphen: string, colon: string) => {
  const time = `(\\d\\d)(?:${colon}(\\d\\d)(?:${colon}(\\d\\d)(?:[.,]\\d{1,9})?)?)?`
  return new RegExp(`^(\\d{4})${hyphen}(\\d\\d)${hyphen}(\\d\\d)(?:[Tt]${time}${offset})?$`)
}
const extended = written('-', ':')
const basic = written('', '')

export const todayIn = (zone: string, now = Date.now()): string => dateIn(zone, now)

const formats = new Map<string, Intl.DateTimeFormat>()

function dateIn(zone: string, milliseconds: number): string {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
    formats.set(zone, format)
  }
  return format.format(milliseconds)
}

/** 29 February becomes 28 February in other years. */
export function hundredYearsAfter(date: string): string {
  const year = Number(date.slice(0, 4)) + 100
  const day = date.endsWith('02-29') && daysIn(year, 2) === 28 ? '02-28' : date.slice(5)
  return `${String(year).padStart(4, '0')}-${day}`
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Assigned codes of ISO 3166-1 alpha-2, with XK for Kosovo and ZZ for unknown (decision D-50). */
const countries = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF
  CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH
  GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW
  KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG
  NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN
  SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT
  ZA ZM ZW XK ZZ`.split(/\s+/),
)

export const isCountry = (value: string): boolean => /^[a-z]{2}$/i.test(value) && countries.has(value.toUpperCase())

export const countryCodes: readonly string[] = [...countries]
