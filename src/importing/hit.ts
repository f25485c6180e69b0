// Checks one record of a file and reads it as a hit. docs/import.md lists the fields.

import { agentOf } from '../enrichment/agent.ts'
import type { Countries } from '../enrichment/country.ts'
import { deviceOf } from '../enrichment/device.ts'
import { cleanTitle, maxNameLength, maxUrlLength, readPageUrl } from '../enrichment/page.ts'
import { readProps } from '../enrichment/props.ts'
import { readRevenue } from '../enrichment/revenue.ts'
import { type CountryCode, isCountryCode } from '../traffic/country.ts'
import { type Device, devices } from '../traffic/device.ts'
import { pageview, type Revenue } from '../traffic/event.ts'
import type { FileRecord } from './records.ts'

export interface ImportedHit {
  /** Tells the hits of an import apart: its place in the files, the same whenever they are read. */
  place: string
  time: number
  name: string
  /** Includes the UTM tags that the record has in fields of their own. */
  url: URL
  title: string
  referrer: string
  country: CountryCode
  device: Device
  /** Families, from the file or from the user agent. */
  browser: string
  os: string
  /** The families that the file names itself, as one text. They tell visitors apart; without them it is empty. */
  namedFamilies: string
  props: Readonly<Record<string, string>> | undefined
  revenue: Revenue | undefined
  /** Any text that tells visitors apart; never stored. */
  visitor: string
  userAgent: string
}

const fieldNames = [
  'time',
  'name',
  'url',
  'title',
  'referrer',
  'visitor',
  'ip',
  'user_agent',
  'country',
  'device',
  'browser',
  'os',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_term',
  'props',
  'revenue',
  'currency',
] as const

type FieldName = (typeof fieldNames)[number]

export const knownFields: ReadonlySet<string> = new Set(fieldNames)
/** The events table starts at the epoch; this is later in every zone. */
const earliest = Date.UTC(1970, 0, 3)

/** Throws an Error that names the fault of the record. */
export function readHit(
  { fields }: FileRecord,
  place: string,
  countries: Pick<Countries, 'countryOf'>,
  now: number,
): ImportedHit {
  for (const name of fields.keys()) if (!knownFields.has(name)) throw new Error(`has an unknown field, ${name}`)
  const field = (name: FieldName): string => fields.get(name) ?? ''
  const name = field('name') || pageview
  if (name.length > maxNameLength) throw new Error(`has a name of more than ${maxNameLength} characters`)
  if (field('visitor') === '' && field('ip') === '') throw new Error('has neither a visitor nor an ip')
  const agent = agentOf(field('user_agent'))
  const [browser, os] = [familyNamed('browser', field('browser')), familyNamed('os', field('os'))]
  return {
    place,
    time: timeOf(field('time'), now),
    name,
    url: urlOf(field),
    title: cleanTitle(field('title')),
    referrer: field('referrer').slice(0, maxUrlLength),
    country: countryOf(field('country'), field('ip'), countries),
    device: deviceNamed(field('device')) ?? deviceOf(field('user_agent')),
    browser: browser || agent.browser,
    os: os || agent.os,
    namedFamilies: browser || os ? `${browser}\0${os}` : '',
    props: propsOf(field('props')),
    revenue: revenueOf(field('revenue'), field('currency')),
    visitor: field('visitor') || field('ip'),
    userAgent: field('user_agent'),
  }
}

function timeOf(text: string, now: number): number {
  let time: number
  try {
    time = Temporal.Instant.from(text).epochMilliseconds
  } catch {
    throw new Error('has no time with an offset, such as 2026-11-15T12:00:00Z')
  }
  if (time > now) throw new Error('is in the future')
  if (time < earliest) throw new Error('is before 1970-01-03')
  return time
}

function urlOf(field: (name: FieldName) => string): URL {
  const url = readPageUrl(field('url'))
  if (!url) throw new Error('has no url that begins with https:// or http://')
  for (const tag of ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'] as const) {
    if (field(tag) !== '') url.searchParams.set(tag, field(tag))
  }
  return url
}

function countryOf(field: string, ip: string, countries: Pick<Countries, 'countryOf'>): CountryCode {
  if (field === '') return countries.countryOf(ip)
  const code = field.toUpperCase()
  if (!isCountryCode(code)) throw new Error('has a country that is not a code of ISO 3166-1')
  return code
}

function deviceNamed(name: string): Device | undefined {
  if (name === '') return undefined
  const device = devices.find((one) => one.toLowerCase() === name.toLowerCase())
  if (!device) throw new Error(`has a device that is none of ${devices.join(', ')}`)
  return device
}

const maxFamilyLength = 60

function familyNamed(field: 'browser' | 'os', name: string): string {
  if (name.length > maxFamilyLength) throw new Error(`has a ${field} of more than ${maxFamilyLength} characters`)
  return name.trim().toWellFormed()
}

function propsOf(text: string): ImportedHit['props'] {
  const { props, dropped } = readProps(text)
  if (dropped.length > 0) throw new Error(`has properties that cannot be recorded: ${dropped.join(', ')}`)
  return props
}

function revenueOf(amount: string, currency: string): Revenue | undefined {
  if (amount === '' && currency === '') return undefined
  const revenue = readRevenue({ amount, currency })
  if (!revenue || revenue === 'invalid')
    throw new Error('has a revenue that is not an amount such as 19.90 with a currency such as EUR')
  return revenue
}
