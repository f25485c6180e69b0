// What a dashboard shows without a counterpart in the API, computed from the events one by one.
import assert from 'node:assert/strict'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { contains, currentWindow, previousWindow, type Window, zoned } from '../checks/oracle/windows.ts'
import type { ReadDashboard } from './dashboard-page.ts'
import type { DashboardWorld } from './dashboard-world.ts'

const count = (value: number): string => value.toLocaleString('en-US')

const passes = (world: DashboardWorld, fields: Record<string, string>, hit: TrafficEvent): boolean =>
  !(world.excludedCountries as string[]).includes(hit.country) &&
  (fields.country ?? hit.country) === hit.country &&
  (fields.device ?? hit.device.toLowerCase()) === hit.device.toLowerCase() &&
  (fields.hostname ?? hit.hostname) === hit.hostname &&
  (fields.utm_source ?? hit.utmSource) === hit.utmSource

const hitsIn = (world: DashboardWorld, fields: Record<string, string>, window: Window): TrafficEvent[] =>
  world.events.filter((hit) => passes(world, fields, hit) && contains(window, hit))

const visitorsOf = (hits: readonly TrafficEvent[]): number =>
  new Set(hits.map(({ day, visitorId }) => `${day} ${visitorId}`)).size

function lastMinutes({ now, zone }: DashboardWorld): Window {
  const [start, end] = [zoned(now - 5 * 60_000, zone), zoned(now, zone)]
  const [first, last] = [
    start.toPlainDate().toString(),
    zoned(now - 1, zone)
      .toPlainDate()
      .toString(),
  ]
  return { start, end, dates: first === last ? [first] : [first, last] }
}

export function checkHours(
  world: DashboardWorld,
  fields: Record<string, string>,
  { metric, compare }: { metric: 'visitors' | 'pageviews'; compare: string },
  read: ReadDashboard,
) {
  const window = currentWindow('24h', {}, world.zone, world.now) as Window
  const numbersOf = ({ end }: Window, hits: TrafficEvent[]) =>
    Array.from({ length: 24 }, (_, nth) => {
      const ofTheHour = hits.filter(({ time }) => {
        const hoursAgo = Math.ceil((end.epochMilliseconds - time) / 3_600_000)
        return Math.max(1, Math.min(24, hoursAgo)) === 24 - nth
      })
      return count(
        metric === 'visitors' ? visitorsOf(ofTheHour) : ofTheHour.filter(({ name }) => name === 'pageview').length,
      )
    })
  const before = previousWindow('24h', window)
  assert.deepEqual(
    read.chart.map(([, value]) => value),
    numbersOf(window, hitsIn(world, fields, window)),
  )
  if (compare === 'on')
    assert.deepEqual(
      read.chart.map(([, , value]) => value),
      numbersOf(before, hitsIn(world, fields, before)),
    )
}

/** The number next to the name of the site: of all visitors, whatever the filters. */
export const currentVisitors = (world: DashboardWorld): number => visitorsOf(hitsIn(world, {}, lastMinutes(world)))
