// What dimensions and their values are called on pages and in mails, and how a person may type them.

import type { Dimension } from '../stats/questions/dimensions.ts'
import { type Filter, operators } from '../stats/questions/filters.ts'
import { type CountryCode, countryNames } from '../traffic/country.ts'
import { devices } from '../traffic/device.ts'
import { pathText } from './formats.ts'

type Named = Pick<Dimension, 'name' | 'property'>

const fieldNames: Readonly<Record<string, string>> = {
  page: 'Page',
  entry_page: 'Entry page',
  exit_page: 'Exit page',
  hostname: 'Hostname',
  referrer: 'Referrer',
  channel: 'Channel',
  utm_campaign: 'UTM campaign',
  utm_source: 'UTM source',
  utm_medium: 'UTM medium',
  utm_content: 'UTM content',
  utm_term: 'UTM term',
  country: 'Country',
  device: 'Device',
  browser: 'Browser',
  os: 'System',
  event: 'Event',
  goal: 'Goal',
}

/** In the order in which a form offers them. */
export const fields = Object.entries(fieldNames)

export const fieldName = ({ name, property }: Named): string =>
  property === undefined ? (fieldNames[name] ?? name) : `Property ${property}`

const noValue: Readonly<Record<string, string>> = {
  page: 'No page',
  entry_page: 'No page',
  exit_page: 'No page',
  referrer: 'Direct / none',
  utm_campaign: 'No campaign',
  utm_source: 'No source',
  utm_medium: 'No medium',
  utm_content: 'No content',
  utm_term: 'No term',
  browser: 'Not recorded',
  os: 'Not recorded',
}

/** What stands for a missing value. */
const noneText = (name: string): string => noValue[name] ?? 'None'

export function valueText({ name }: Named, value: string): string {
  if (value === '') return noneText(name)
  if (name === 'country') return countryNames[value as CountryCode] ?? value
  if (name === 'device') return devices.find((label) => label.toLowerCase() === value) ?? value
  return isPath(name) ? pathText(value) : value
}

export const isPath = (name: string): boolean => name === 'page' || name === 'entry_page' || name === 'exit_page'

/** A country may be typed by its name. */
export function typedValue(name: string, text: string): string {
  const plain = (one: string) => one.toLocaleLowerCase('en')
  if (name !== 'country') return text
  return Object.entries(countryNames).find(([, country]) => plain(country) === plain(text))?.[0] ?? text
}

export type Operator = (typeof operators)[number]

export const operatorTexts: Readonly<Record<Operator, string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  starts_with: 'starts with',
}

/** Words of ours, such as codes of countries, have no parts that anybody looks for; a missing value has none at all. */
export const operatorsOf = ({ dimension, values }: Pick<Filter, 'dimension' | 'values'>): readonly Operator[] =>
  dimension.isOurs || values.includes('') ? ['is', 'is_not'] : operators

export interface FilterWords {
  field: string
  operator: string
  value: string
}

export const wordsOf = ({ dimension, operator, values }: Filter): FilterWords => ({
  field: fieldName(dimension),
  operator: operatorTexts[operator],
  value: values.map((value) => valueText(dimension, value)).join(', '),
})

/** `Country Germany`, `Page starts with /blog` */
export function filterWords(filter: Filter): string {
  const { field, operator, value } = wordsOf(filter)
  return filter.operator === 'is' ? `${field} ${value}` : `${field} ${operator} ${value}`
}

/** Messages of the API name the parameter first. */
export const forPeople = (message: string): string =>
  message.replace(/^filter: (.)/, (_, first: string) => first.toUpperCase())
