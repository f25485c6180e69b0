// The endpoints (docs/contract.md 4). Routes, OpenAPI, reference, docs and tests iterate over this table: a new line is a new endpoint.
import type { Report } from './report.ts'
import { channels } from './reports/channels.ts'
import { devices } from './reports/devices.ts'
import { events } from './reports/events.ts'
import { geo } from './reports/geo.ts'
import { overview } from './reports/overview.ts'
import { pages } from './reports/pages.ts'
import { referrers } from './reports/referrers.ts'
import { timeseries } from './reports/timeseries.ts'
import { utm } from './reports/utm.ts'

export const reports = {
  overview,
  timeseries,
  pages,
  referrers,
  channels,
  devices,
  geo,
  events,
  utm,
} as const satisfies Record<string, Report>

export type ReportName = keyof typeof reports
