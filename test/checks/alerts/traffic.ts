// Weeks of traffic by the hour in the zones of the oracle, with a rise, a drop, a silence and a time without signups on one day.
import { pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import { eventOf } from '../../support/events.ts'
import type { Random } from '../../support/random.ts'
import { zones } from '../oracle/moments.ts'

export const hour = 3_600_000
export const minute = 60_000
export const signup = 'Signup'

/** Weeks before these days have a change of the clock in many zones, in spring and in autumn; on the last one, a week before it. */
export const days = ['2026-11-03', '2026-04-01', '2026-11-08'] as const

/** Half an hour is not changed in the weeks that matter. */
export const siteZones = zones.filter((zone) => zone !== 'Australia/Lord_Howe')

interface Injected {
  rise: { from: number; until: number }
  drop: { from: number; until: number }
  silence: { from: number; until: number }
  noSignups: { from: number; until: number }
}

export interface SiteTraffic {
  zone: string
  excludedCountries: ('FR' | 'DE')[]
  injected: Injected
  /** By time, also those of excluded countries. */
  events: TrafficEvent[]
}

export function makeTraffic(random: Random, siteId: string, day: string, zone: string): SiteTraffic {
  const local = (hourOfDay: number): number =>
    Temporal.PlainDate.from(day).toPlainDateTime({ hour: hourOfDay }).toZonedDateTime(zone).epochMilliseconds
  const span = (from: number, lengthMs: number) => ({ from, until: from + lengthMs })
  const injected: Injected = {
    // Long enough for a whole hour of the clock.
    rise: span(local(9) + random.below(60) * minute, 2 * hour + random.below(60) * minute),
    drop: span(local(13), 2 * hour),
    silence: span(local(17) + random.below(60) * minute, 3 * hour + random.below(60) * minute),
    noSignups: span(local(12) + random.below(60) * minute, 4 * hour),
  }
  const events: TrafficEvent[] = []
  for (let week = 0; week <= 4; week++) {
    const weekly = 0.85 + random.below(30) / 100
    for (const offset of [-1, 0, 1]) {
      const date = Temporal.PlainDate.from(day).add({ days: offset - 7 * week })
      let at = date.toZonedDateTime(zone).epochMilliseconds
      const end = date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds
      for (; at < end; at += hour) addHour(at, Math.min(hour, end - at), weekly, week === 0)
    }
  }

  function addHour(start: number, lengthMs: number, weekly: number, isCurrent: boolean): void {
    const hourOfDay = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone).hour
    const usual = (hourOfDay >= 7 && hourOfDay < 22 ? 70 : 6) * weekly
    // Five visitors for one, so that the rise can take them out of the longer list.
    const most = Math.round(5 * usual)
    for (let index = 0; index < most; index++) {
      const time = start + random.below(lengthMs)
      const isExtra = index >= usual
      const isIn = ({ from, until }: { from: number; until: number }) => isCurrent && time >= from && time < until
      if (isExtra !== (isExtra && isIn(injected.rise))) continue
      if (isIn(injected.silence) || (isIn(injected.drop) && !random.oneIn(10))) continue
      const visitor = `${start} ${index}`
      const country = random.oneIn(8) ? 'FR' : 'DE'
      add({ at: time, visitor, country, name: pageview })
      if (random.oneIn(3))
        add({ at: Math.min(time + random.below(20 * minute), time), visitor, country, name: pageview })
      if (random.oneIn(4) && !isIn(injected.noSignups)) add({ at: time, visitor, country, name: signup })
    }
  }

  function add({ at, ...hit }: { at: number; visitor: string; country: 'FR' | 'DE'; name: string }): void {
    events.push(eventOf({ ...hit, at: new Date(at).toISOString() }, siteId, zone))
  }

  events.sort((one, other) => one.time - other.time)
  return { zone, excludedCountries: random.oneIn(2) ? ['FR'] : [], injected, events }
}
