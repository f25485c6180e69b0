// The HTML part of a report about all sites of an account.
import { counted, inFull } from '../display/formats.ts'
import { button, link, page, paragraph, part, softLine } from '../mail/layout.ts'
import { visibleLine } from '../mail/letter.ts'
import { html } from '../web/html.ts'
import { dashboardAddress } from './addresses.ts'
import { changeMark, head, headline, nameCell, numberCell, numberTable, softCell, subscription } from './elements.ts'
import type { AccountReport } from './numbers.ts'
import { maxDomain } from './order.ts'
import { kindOf } from './period.ts'
import { accountTotals, maxAccountName, maxSites, moreSites, noSites, notesOfSites, summary } from './sentences.ts'

export function accountHtml(subject: string, report: AccountReport): string {
  const { order, account, days, lines } = report
  const { visitors, before, percent } = accountTotals(lines)
  return page(subject, {
    preview: summary(visitors, percent, days),
    kind: kindOf(days),
    parts: [
      head(visibleLine(account, maxAccountName), days, order),
      ...(lines.length === 0
        ? [part(18, paragraph(noSites), 8)]
        : [
            headline(visitors, { percent, isGood: (percent ?? 0) > 0 }, before, ` on ${counted(lines.length, 'site')}`),
            part(20, siteTable(report), 26),
          ]),
      part(2, button('Open all sites', order.publicUrl), 26),
    ],
    footer: html`${notesOfSites(report)}<br><br>${subscription(order)}`,
  })
}

const siteTable = ({ order, days, lines }: AccountReport) =>
  html`${numberTable(
    ['Site', 'Visitors', 'Pageviews', 'Change'],
    lines.slice(0, maxSites).map(
      ({ domain, current, change: { visitors } }) =>
        html`<tr>${nameCell(link(visibleLine(domain, maxDomain), dashboardAddress(order, domain, days)))}${numberCell(html`<b>${inFull(current.visitors)}</b>`)}${softCell(inFull(current.pageviews))}${numberCell(changeMark({ percent: visitors, isGood: (visitors ?? 0) > 0 }))}</tr>
`,
    ),
  )}${lines.length > maxSites && html`<div style="padding-top:8px">${softLine(moreSites(lines.length))}</div>`}`
