// What each list shows: its label, its number, what that is a share of, and where a click on a row leads.
import type { Site } from '../../accounts/sites.ts'
import { counted } from '../../display/formats.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { halfUp } from '../../stats/rounding.ts'
import type { Filters } from '../../traffic/conditions.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { devices } from '../../traffic/device.ts'
import type { Row } from './answers.ts'
import { addressOf, type DashboardState, type ListReport } from './state.ts'

export interface ListKind {
  title: string
  /** The names of the columns of a label and of the first number. */
  labelName: string
  unit: string
  /** The field that names a row. */
  label: string
  /** The field by which the API orders the list. */
  number: string
  /** The percentage of a row. */
  share(row: Row, totals: Metrics): number
  /** All numbers of a row, in words. */
  words(row: Row): string
  link?(row: Row, state: DashboardState): { href: string; isOutside?: true } | undefined
}

const ofVisitors = (row: Row, { visitors }: Metrics) => halfUp(Number(row.visitors) * 100, visitors)
const ofPageviews = (row: Row, { pageviews }: Metrics) => halfUp(Number(row.views) * 100, pageviews)
const viewsAndVisitors = (row: Row) =>
  `${counted(Number(row.views), 'view')}, ${counted(Number(row.visitors), 'visitor')}`
const onlyVisitors = (row: Row) => counted(Number(row.visitors), 'visitor')

const codes = new Map(Object.entries(countryNames).map(([code, name]) => [name, code as CountryCode]))

/** The API answers names; filters and the map need codes. */
export const codeOfCountry = (name: string): CountryCode | undefined => codes.get(name)

export const lists: Readonly<Record<ListReport, ListKind>> = {
  pages: {
    title: 'Pages',
    labelName: 'Page',
    unit: 'views',
    label: 'pathname',
    number: 'views',
    share: ofPageviews,
    words: viewsAndVisitors,
    link: ({ pathname }, { site, parameters }) => {
      const href = livePage(site, parameters.filters.hostname, String(pathname))
      return href === undefined ? undefined : { href, isOutside: true }
    },
  },
  referrers: {
    title: 'Referrers',
    labelName: 'Referrer',
    unit: 'views',
    label: 'referrer',
    number: 'views',
    share: ofPageviews,
    words: viewsAndVisitors,
  },
  channels: {
    title: 'Channels',
    labelName: 'Channel',
    unit: 'visitors',
    label: 'channel',
    number: 'visitors',
    share: ({ percentage }) => Number(percentage),
    words: onlyVisitors,
  },
  utm: {
    title: 'UTM sources',
    labelName: 'UTM source',
    unit: 'visitors',
    label: 'name',
    number: 'visitors',
    share: ofVisitors,
    words: onlyVisitors,
    link: ({ name }, state) => filterLink(state, { utmSource: String(name) }),
  },
  geo: {
    title: 'Countries',
    labelName: 'Country',
    unit: 'visitors',
    label: 'name',
    number: 'visitors',
    share: ofVisitors,
    words: onlyVisitors,
    link: ({ name }, state) => {
      const country = codeOfCountry(String(name))
      return country && filterLink(state, { country })
    },
  },
  devices: {
    title: 'Devices',
    labelName: 'Device',
    unit: 'visitors',
    label: 'name',
    number: 'visitors',
    share: ofVisitors,
    words: onlyVisitors,
    link: ({ name }, state) => {
      const device = devices.find((one) => one === name && one !== 'Unknown')
      return device && filterLink(state, { device })
    },
  },
  events: {
    title: 'Custom events',
    labelName: 'Event',
    unit: 'times',
    label: 'name',
    number: 'count',
    share: ofVisitors,
    words: (row) => `${counted(Number(row.count), 'time')}, by ${counted(Number(row.visitors), 'visitor')}`,
  },
}

/** A filter that is locked leads nowhere. */
function filterLink(state: DashboardState, filters: Filters): { href: string } | undefined {
  if (Object.keys(filters).some((name) => name in state.locked)) return undefined
  return { href: addressOf(state, { more: undefined, filters }) }
}

/** The row `(other)` is no page. */
function livePage({ hostnames, domain }: Site, hostname: string | undefined, pathname: string): string | undefined {
  return pathname.startsWith('/') ? `https://${hostname ?? hostnames[0] ?? domain}${pathname}` : undefined
}
