import { type Filter, filterText } from '../stats/questions/filters.ts'
import type { ReportOrder } from './order.ts'
import type { ReportDays } from './period.ts'

type PublicUrl = Pick<ReportOrder, 'publicUrl'>

/** A page of a site in the console. */
export const siteAddress = ({ publicUrl }: PublicUrl, domain: string, rest = ''): string =>
  `${publicUrl}/sites/${encodeURIComponent(domain)}${rest}`

/** The dashboard with exactly the days of the report. */
export const dashboardAddress = (
  order: PublicUrl,
  domain: string,
  { first, last }: ReportDays,
  filters: readonly Filter[] = [],
): string => {
  const all = filters.map(({ dimension, operator, values }) => filterText(dimension.name, operator, values))
  const query = new URLSearchParams([
    ...Object.entries({ range: 'custom', start: String(first), end: String(last) }),
    ...all.map((text) => ['filter', text]),
  ])
  return siteAddress(order, domain, `?${query}`)
}
