// The text part of a report about one site. It has the same numbers as the HTML part.
import { inFull, longDay } from '../display/formats.ts'
import { visibleLine } from '../mail/letter.ts'
import { dashboardAddress, siteAddress } from './addresses.ts'
import type { Day, List, SiteReport } from './numbers.ts'
import { maxDomain } from './order.ts'
import { thisPeriod } from './period.ts'
import {
  checkSnippet,
  excludedNames,
  importedDays,
  nobodyMatches,
  noTraffic,
  numberLines,
  onlyText,
  sameAsApi,
} from './sentences.ts'
import { headlineText, headText, letterText, percentText, subscriptionText, table } from './text-parts.ts'

export function siteText(report: SiteReport): string {
  const { order, site, filters, days, numbers } = report
  const isQuiet = numbers.overview.current.visitors === 0
  return letterText(
    [
      headText(visibleLine(site.domain, maxDomain), days, order, onlyText(filters)),
      ...(isQuiet ? quiet(report) : traffic(report)),
      `Open ${thisPeriod(days)} in the dashboard:\n${dashboardAddress(order, site.domain, days, filters)}`,
    ],
    [
      exclusions(report),
      importedDays([site], days),
      `Days of ${site.timeZone}. ${sameAsApi(days)}`,
      '',
      subscriptionText(order),
    ]
      .filter((line) => line !== undefined)
      .join('\n'),
  )
}

const quiet = ({ order, site, filters, days, numbers }: SiteReport): string[] =>
  filters.length > 0
    ? [nobodyMatches(days)]
    : [
        noTraffic(days, numbers.overview.previous.visitors),
        `${checkSnippet}\n${siteAddress(order, site.domain, '/settings')}`,
      ]

function traffic({ days, numbers: { overview, days: series, lists } }: SiteReport): string[] {
  const { current, previous, change } = overview
  return [
    headlineText(current.visitors, change.visitors, previous.visitors),
    table(
      [
        ['', `This ${days.interval}`, 'Before', 'Change'],
        ...numberLines(overview).map(({ name, now, before, change: { percent } }) => [
          name,
          now,
          before,
          percentText(percent),
        ]),
      ],
      (column) => column === 0,
    ),
    `Visitors by day\n${dayTable(series)}`,
    ...lists.map(listText),
  ]
}

const dayTable = (days: readonly Day[]): string =>
  table(
    [
      ...(days[0]?.before === undefined ? [] : [['', 'This week', 'Before']]),
      ...days.map(({ date, visitors, before }) => [
        longDay(date, date.year),
        inFull(visitors),
        ...(before === undefined ? [] : [inFull(before)]),
      ]),
    ],
    (column) => column === 0,
  )

const listText = ({ title, unit, rows, nothing }: List): string =>
  `${title} (${unit})\n${
    rows.length === 0
      ? nothing
      : table(
          rows.map(({ name, count, beside }) => [inFull(count), beside, name]),
          (column) => column === 2,
        )
  }`

const exclusions = ({ order, site }: SiteReport): string | undefined =>
  site.excludedCountries.length > 0
    ? `Without ${excludedNames(site)}, as set in excluded countries: ${siteAddress(order, site.domain, '/settings/exclusions')}`
    : undefined
