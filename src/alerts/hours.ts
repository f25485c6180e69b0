// Reads what the alerts of a shard are judged by: one statement per minute for all sites. It reads the last two hours of each site, and for some
// sites what is not remembered yet: whole days one to four weeks ago, and when something happened last. A past day is read once and remembered
// hour by hour, in this process only: reading it again costs less than storing it. Half a day ahead, the days for tomorrow are read.
import { hourMs } from '../durations.ts'
import type { ClickHouse, ReadLimits } from '../stores/clickhouse.ts'
import { weeksBefore, type ZoneClock, zoneClock } from './clock.ts'
import type { HourSeen } from './judging.ts'
import { anyEvent, type CountedRow, groupOf, type Piece, statementOf, type WatchedSite } from './statement.ts'

/** The reader of ClickHouse may not have more (deploy/clickhouse/least-privilege). */
const limits: ReadLimits = { seconds: 5, threads: 1, bytes: 1_000_000_000 }
/** A statement has its sites in its address, which may have a megabyte. Further sites have a statement of their own. */
const maxSites = 15_000
/** If all sites take longer than a statement may, half of them have one of their own from then on. */
const minSites = 500
/** Past days of sites per statement, and events in them. */
const maxDays = 4_000
const maxEvents = 2_000_000
const unknownEvents = 1_000
/** Days that are needed so many hours from now are read already. */
const aheadHours = 12
/** After a longer pause, events may have been missed. */
const maxGapMs = hourMs

const unreadable = new Uint32Array(24)

interface SiteMemory {
  /** What is remembered for other needs is forgotten. */
  needs: string
  zone: string
  /** The hour for which every past day is remembered. */
  completeFor: number
  current: number
  whole: number
  lastAt: Map<string, number>
  /** By day and name of the event (no name: visitors), and there by the hour of the clock. */
  days: Map<string, Uint32Array>
}

/** What a process has read of the sites of a shard. */
export interface Hours {
  /** Throws if the last two hours cannot be read. */
  read(sites: readonly WatchedSite[], now: number): Promise<void>
  current(site: WatchedSite, now: number): HourSeen
  whole(site: WatchedSite, now: number): HourSeen
  lastAt(site: WatchedSite, event: string): number | undefined
  /** Visitors (or events of a name) in as many hours, one to four weeks before. */
  weeksOf(site: WatchedSite, now: number, hours: number, event: string): readonly number[] | undefined
}

const keyOf = (day: string, event: string): string => `${day} ${event}`
const needsOf = ({ zone, excludedCountries, needsUsual, waits }: WatchedSite): string =>
  JSON.stringify([zone, excludedCountries, needsUsual, [...waits]])

/** `onPartial`: past days could not be read; fewer at once are tried a minute later. */
export function createHours(
  clickhouse: Pick<ClickHouse, 'rows'>,
  onPartial: (error: unknown) => void = () => {},
): Hours {
  const sites = new Map<string, SiteMemory>()
  let clocks = new Map<string, ZoneClock>()
  let readAt = Number.NEGATIVE_INFINITY
  let daysAtOnce = maxDays
  let sitesAtOnce = maxSites

  function clockOf(zone: string, now: number): ZoneClock {
    const known = clocks.get(zone)
    if (known?.now === now) return known
    const clock = zoneClock(zone, now)
    clocks.set(zone, clock)
    return clock
  }

  const memoryOf = ({ id }: WatchedSite): SiteMemory => sites.get(id) as SiteMemory

  function prepare(watched: readonly WatchedSite[], now: number): void {
    clocks = new Map()
    const ids = new Set(watched.map(({ id }) => id))
    for (const id of sites.keys()) if (!ids.has(id)) sites.delete(id)
    for (const site of watched) {
      const needs = needsOf(site)
      const known = sites.get(site.id)
      if (known?.needs === needs) {
        if (Math.abs(now - readAt) > maxGapMs) known.lastAt.clear()
        continue
      }
      sites.set(site.id, {
        needs,
        zone: site.zone,
        completeFor: 0,
        current: 0,
        whole: 0,
        lastAt: new Map(),
        days: new Map(),
      })
    }
  }

  /** Of each local day that is or will be compared, the same days of the last four weeks that are not remembered. */
  function missingDays(site: WatchedSite, now: number): Piece[] {
    const clock = clockOf(site.zone, now)
    const memory = memoryOf(site)
    if (memory.completeFor === clock.hourStart) return []
    const today = clock.hourBefore(0).day
    const needed = new Set<string>()
    const pieces = [...usualHoursOf(site)].flatMap(([event, hours]): Piece[] => {
      const days = new Set([clock.hourBefore(-aheadHours).day, today, clock.hourBefore(hours).day])
      for (let back = 24; back < hours; back += 24) days.add(clock.hourBefore(back).day)
      return [true, false].map((isAhead) => {
        const past = [...days].filter((day) => day > today === isAhead).flatMap(weeksBefore)
        for (const day of past) needed.add(keyOf(day, event))
        const missing = past.filter((day) => !memory.days.has(keyOf(day, event))).sort()
        return { site, what: 'days', event, days: missing, from: clock.hourStart % hourMs, until: now, isAhead }
      })
    })
    for (const key of memory.days.keys()) if (!needed.has(key)) memory.days.delete(key)
    const missing = pieces.filter(({ days }) => days.length > 0)
    if (missing.length === 0) memory.completeFor = clock.hourStart
    return missing
  }

  /** For each event whose usual numbers are needed, of how many hours before now. */
  function usualHoursOf({ needsUsual, waits }: WatchedSite): Map<string, number> {
    const hours = new Map(Array.from(waits, ([event, longest]) => [event, longest + 1]))
    if (needsUsual) hours.set(anyEvent, Math.max(2, hours.get(anyEvent) ?? 0))
    return hours
  }

  const missingLasts = (site: WatchedSite, now: number): Piece[] =>
    [...site.waits].flatMap(([event, hours]): Piece[] => {
      if (memoryOf(site).lastAt.has(event)) return []
      const from = clockOf(site.zone, now).hourStart - (hours + 1) * hourMs
      return [{ site, what: 'last', event, days: daysBetween(site, from, now), from, until: now }]
    })

  function daysBetween({ zone }: WatchedSite, from: number, now: number): string[] {
    const clock = clockOf(zone, now)
    const days = new Set<string>()
    for (let hours = Math.ceil((clock.hourStart - from) / hourMs); hours >= 0; hours--)
      days.add(clock.hourBefore(hours).day)
    return [...days]
  }

  function recentOf(site: WatchedSite, now: number): Piece[] {
    const from = clockOf(site.zone, now).hourStart - hourMs
    const recent = { site, days: daysBetween(site, from, now), from, until: now }
    const events = [...site.waits.keys()].filter((event) => event !== anyEvent)
    return [
      { ...recent, what: 'recent', event: anyEvent },
      ...events.map((event): Piece => ({ ...recent, what: 'recent events', event })),
    ]
  }

  /** As much as one statement reads, the most urgent first; then in the order of the table, so that small sites that lie together are read together. */
  function firstOf(pieces: Piece[]): Piece[] {
    pieces.sort(
      (one, other) =>
        Number(one.isAhead ?? false) - Number(other.isAhead ?? false) || compare(one.site.id, other.site.id),
    )
    const first: Piece[] = []
    let [daysLeft, eventsLeft] = [daysAtOnce, maxEvents]
    for (const piece of pieces) {
      const ofDay = piece.site.lastDayEvents || unknownEvents
      const fitting = Math.min(daysLeft, Math.max(Math.floor(eventsLeft / ofDay), first.length === 0 ? 1 : 0))
      // What happened last is read as a whole.
      const days = piece.what === 'days' ? piece.days.slice(0, fitting) : piece.days
      if (fitting < 1) break
      first.push({ ...piece, days })
      daysLeft -= days.length
      eventsLeft -= days.length * ofDay
    }
    return first
  }

  async function readPieces(pieces: readonly Piece[], now: number): Promise<void> {
    const groups = [...Map.groupBy(pieces, groupOf).values()]
    if (groups.length === 0) return
    const rows = await clickhouse.rows<CountedRow>(statementOf(groups), undefined, limits)
    for (const piece of pieces) if (piece.what !== 'recent events') clear(piece)
    const whats = groups.map(([piece]) => (piece as Piece).what)
    for (const { part, ...row } of rows) store(whats[part] as Piece['what'], row, now)
  }

  async function readRecent(recent: readonly Piece[], now: number): Promise<void> {
    try {
      await readPieces(recent, now)
    } catch (error) {
      sitesAtOnce = Math.max(minSites, Math.ceil(Math.min(sites.size, sitesAtOnce) / 2))
      throw error
    }
  }

  /** What has no row has no events. */
  function clear({ site, what, event, days, from }: Piece): void {
    const memory = memoryOf(site)
    if (what === 'recent') {
      memory.current = 0
      memory.whole = 0
    }
    if (what === 'last') memory.lastAt.set(event, from)
    if (what === 'days') for (const day of days) memory.days.set(keyOf(day, event), new Uint32Array(24))
  }

  /** What cannot be read alone must not hold up the others: such a week is left out, and an event is waited for from now on. */
  function doWithout({ site, what, event, days }: Piece, now: number): void {
    const memory = memoryOf(site)
    if (what === 'last') memory.lastAt.set(event, now)
    else for (const day of days) memory.days.set(keyOf(day, event), unreadable)
  }

  function store(what: Piece['what'], { site, event, hours, counts, last }: Omit<CountedRow, 'part'>, now: number) {
    const memory = sites.get(site)
    if (!memory) return
    if (what === 'days') {
      const { hourStart } = clockOf(memory.zone, now)
      for (const [index, hour] of hours.entries())
        storeHour(memory, event, (hourStart % hourMs) + hour * hourMs, counts[index] as number, now)
      return
    }
    if (what === 'recent') {
      memory.whole = counts[0] as number
      memory.current = counts[1] as number
    }
    const known = memory.lastAt.get(event)
    if (known !== undefined) memory.lastAt.set(event, Math.max(known, last))
  }

  function storeHour({ zone, days }: SiteMemory, event: string, start: number, count: number, now: number): void {
    const clock = clockOf(zone, now)
    const before = (clock.hourStart - start) / hourMs
    const { day, hour } = clock.hourBefore(before)
    const earlier = clock.hourBefore(before + 1)
    const counted = days.get(keyOf(day, event))
    // Of an hour that the clock shows twice, the first one counts.
    if (counted && !(earlier.day === day && earlier.hour === hour)) counted[hour] = count
  }

  function weeksOf(site: WatchedSite, now: number, event: string, parts: readonly { before: number; share: number }[]) {
    const clock = clockOf(site.zone, now)
    const memory = memoryOf(site)
    const weeks = [0, 0, 0, 0]
    for (const { before, share } of parts) {
      const { hour, weeks: days } = clock.hourBefore(before)
      for (let week = 0; week < days.length; week++) {
        const counts = memory.days.get(keyOf(days[week] as string, event))
        if (!counts) return undefined
        weeks[week] = (weeks[week] as number) + share * (counts[hour] as number)
      }
    }
    return weeks
  }

  const hour = (site: WatchedSite, now: number, before: 0 | 1): HourSeen => ({
    start: clockOf(site.zone, now).hourStart - before * hourMs,
    visitors: before === 0 ? memoryOf(site).current : memoryOf(site).whole,
    weeks: site.needsUsual ? weeksOf(site, now, anyEvent, [{ before, share: 1 }]) : undefined,
  })

  return {
    async read(watched, now) {
      prepare(watched, now)
      for (let first = 0; first < watched.length; first += sitesAtOnce) {
        const some = watched.slice(first, first + sitesAtOnce)
        const recent = some.flatMap((site) => recentOf(site, now))
        const rest = firstOf(some.flatMap((site) => [...missingLasts(site, now), ...missingDays(site, now)]))
        if (rest.length === 0) {
          await readRecent(recent, now)
          continue
        }
        try {
          await readPieces([...rest, ...recent], now)
          daysAtOnce = Math.min(2 * daysAtOnce, maxDays)
        } catch (error) {
          onPartial(error)
          await readRecent(recent, now)
          if (daysAtOnce === 1) doWithout(rest[0] as Piece, now)
          const tried = rest.reduce((sum, { days }) => sum + days.length, 0)
          daysAtOnce = Math.max(1, Math.floor(Math.min(daysAtOnce, tried) / 4))
        }
      }
      readAt = now
    },
    current: (site, now) => hour(site, now, 0),
    whole: (site, now) => hour(site, now, 1),
    lastAt: (site, event) => memoryOf(site).lastAt.get(event),
    weeksOf(site, now, hours, event) {
      const { hourStart } = clockOf(site.zone, now)
      // The hour that is not over counts as far as it has come, and the first one for the rest.
      const begun = (now - hourStart) / hourMs
      const parts = Array.from({ length: hours + 1 }, (_, before) => ({
        before,
        share: before === 0 ? begun : before === hours ? 1 - begun : 1,
      }))
      return weeksOf(site, now, event, parts)
    },
  }
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other))
