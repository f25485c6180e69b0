// The text part of a report about all sites of an account. It has the same numbers as the HTML part.
import { counted, inFull } from '../display/formats.ts'
import { visibleLine } from '../mail/letter.ts'
import { dashboardAddress } from './addresses.ts'
import type { AccountReport } from './numbers.ts'
import { maxDomain } from './order.ts'
import { accountTotals, maxAccountName, maxSites, moreSites, noSites, notesOfSites } from './sentences.ts'
import { headlineText, headText, letterText, percentText, subscriptionText, table } from './text-parts.ts'

export function accountText(report: AccountReport): string {
  const { order, account, days, lines } = report
  const { visitors, before, percent } = accountTotals(lines)
  return letterText(
    [
      headText(visibleLine(account, maxAccountName), days, order),
      ...(lines.length === 0
        ? [noSites]
        : [headlineText(visitors, percent, before, ` on ${counted(lines.length, 'site')}`), siteTable(report)]),
      `Open all sites:\n${order.publicUrl}`,
    ],
    `${notesOfSites(report)}\n\n${subscriptionText(order)}`,
  )
}

/** The address of each dashboard stands below its line. */
function siteTable({ order, days, lines }: AccountReport): string {
  const shown = lines.slice(0, maxSites)
  const [head, ...rows] = table(
    [
      ['Visitors', 'Pageviews', 'Change', 'Site'],
      ...shown.map(({ domain, current, change }) => [
        inFull(current.visitors),
        inFull(current.pageviews),
        percentText(change.visitors),
        visibleLine(domain, maxDomain),
      ]),
    ],
    (column) => column === 3,
  ).split('\n')
  return [
    head,
    ...rows.flatMap((row, index) => [row, `  ${dashboardAddress(order, shown[index]?.domain ?? '', days)}`]),
    ...(lines.length > maxSites ? [moreSites(lines.length)] : []),
  ].join('\n')
}
