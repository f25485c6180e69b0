// Reads what the alerts of a shard are judged by: one statement per minute for all sites. It reads the last two hours of each site, and for some
// sites what is not remembered yet: whole days one to four weeks ago, and when something happened last. A past day is read once and remembered
// hour by hour, in this process only: reading it again costs less than storing it. Half a day ahead, the days for tomorrow are read.
import { hourMs } from '../durations.ts'
import type { ClickHouse, ReadLimits } from '../stores/clickhouse.ts'
import { localDay, weeksBefore, type ZoneClock, zoneClock } from './clock.ts'
import type { HourSeen } from './judging.ts'
import { anyEvent, type CountedRow, groupOf, type Piece, statementOf, type WatchedSite } from './statement.ts'

/** The reader of ClickHouse may not have more (deploy/clickhouse/least-privilege). */
const limits: ReadLimits = { seconds: 5, threads: 1, bytes: 1_000_000_000 }
/** A statement has its sites in its address, which may have a megabyte. Further sites have a statement of their own. */
const sitesAtOnce = 15_000
/** Past days per statement, and events in them: 4 million take a second. */
const maxPieces = 4_000
const maxPieceEvents = 4_000_000
const unknownEvents = 1_000
/** Days that are needed so many hours from now are read already. */
const aheadHours = 12
/** A process that did not read for longer has missed events. */
const maxGapMs = hourMs

/** Visitors, or events of a name, by the hour of the clock. */
type DayCounts = Uint32Array
const unreadable: DayCounts = new Uint32Array(24)

interface SiteMemory {
  /** What is remembered for other needs is forgotten. */
  needs: string
  /** The hour for which every past day is remembered. */
  completeFor: number
  current: number
  whole: number
  lastAt: Map<string, number>
  /** By day and name of the event; no name: visitors. */
  days: Map<string, DayCounts>
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
  let piecesAtOnce = maxPieces

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
      sites.set(site.id, { needs, completeFor: 0, current: 0, whole: 0, lastAt: new Map(), days: new Map() })
    }
  }

  /** Of each local day that is or will be compared, the same days of the last four weeks that are not remembered. */
  function missingDays(site: WatchedSite, now: number): Piece[] {
    const clock = clockOf(site.zone, now)
    const memory = memoryOf(site)
    if (memory.completeFor === clock.hourStart) return []
    const pieces: Piece[] = []
    const needed = new Set<string>()
    const need = (event: string, hours: number) => {
      const last = clock.hourBefore(-aheadHours).day
      const now = clock.hourBefore(0).day
      const days = new Set([clock.hourBefore(hours).day, now, last])
      for (let back = 24; back < hours; back += 24) days.add(clock.hourBefore(back).day)
      for (const day of days) {
        for (const past of weeksBefore(day)) {
          const key = keyOf(past, event)
          if (needed.has(key)) continue
          needed.add(key)
          if (memory.days.has(key)) continue
          const { start, end } = localDay(site.zone, past)
          pieces.push({ site, what: 'day', event, days: [past], from: start, until: end, isAhead: day > now })
        }
      }
    }
    if (site.needsUsual || site.waits.has(anyEvent)) need(anyEvent, (site.waits.get(anyEvent) ?? 1) + 1)
    for (const [event, hours] of site.waits) if (event !== anyEvent) need(event, hours + 1)
    for (const key of memory.days.keys()) if (!needed.has(key)) memory.days.delete(key)
    if (pieces.length === 0) memory.completeFor = clock.hourStart
    return pieces
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

  /** The most urgent first; then in the order of the table, so that small sites that lie together are read together. */
  function firstOf(pieces: Piece[]): Piece[] {
    pieces.sort(
      (one, other) =>
        Number(one.isAhead ?? false) - Number(other.isAhead ?? false) ||
        compare(one.days[0] as string, other.days[0] as string) ||
        compare(one.site.id, other.site.id),
    )
    let events = 0
    const fitting = pieces.findIndex(({ site, days }, index) => {
      events += (site.lastDayEvents || unknownEvents) * days.length
      return index > 0 && (index >= piecesAtOnce || events > maxPieceEvents)
    })
    return fitting < 0 ? pieces : pieces.slice(0, fitting)
  }

  async function readPieces(pieces: readonly Piece[]): Promise<void> {
    const groups = [...Map.groupBy(pieces, groupOf).values()]
    if (groups.length === 0) return
    const rows = await clickhouse.rows<CountedRow>(statementOf(groups), undefined, limits)
    for (const piece of pieces) if (piece.what !== 'recent events') clear(piece)
    for (const { part, ...row } of rows) store(groups[part]?.[0] as Piece, row)
  }

  /** What has no row has no events. */
  function clear({ site, what, event, days, from }: Piece): void {
    const memory = memoryOf(site)
    if (what === 'recent') {
      memory.current = 0
      memory.whole = 0
    }
    if (what === 'last') memory.lastAt.set(event, from)
    if (what === 'day') memory.days.set(keyOf(days[0] as string, event), new Uint32Array(24))
  }

  /** What cannot be read alone must not hold up the others: such a week is left out, and an event is waited for from now on. */
  function doWithout({ site, what, event, days }: Piece, now: number): void {
    const memory = memoryOf(site)
    if (what === 'last') memory.lastAt.set(event, now)
    else memory.days.set(keyOf(days[0] as string, event), unreadable)
  }

  function store(
    { what, site: { zone }, days }: Piece,
    { site, event, hours, counts, last }: Omit<CountedRow, 'part'>,
  ): void {
    const memory = sites.get(site)
    if (!memory) return
    if (what === 'day') {
      const day = days[0] as string
      const counted = memory.days.get(keyOf(day, event))
      const names = localDay(zone, day).hours
      // Of an hour that the clock shows twice, the first one counts.
      for (const [index, hour] of hours.entries()) {
        const name = names[hour]
        if (counted && name !== undefined && names.indexOf(name) === hour) counted[name] = counts[index] as number
      }
      return
    }
    if (what === 'recent') {
      memory.whole = counts[0] as number
      memory.current = counts[1] as number
    }
    const known = memory.lastAt.get(event)
    if (known !== undefined) memory.lastAt.set(event, Math.max(known, last))
  }

  function weeksOf(site: WatchedSite, now: number, event: string, parts: readonly { before: number; share: number }[]) {
    const clock = clockOf(site.zone, now)
    const { days } = memoryOf(site)
    const weeks = [0, 0, 0, 0]
    for (const { before, share } of parts) {
      const { day, hour } = clock.hourBefore(before)
      for (const [week, past] of weeksBefore(day).entries()) {
        const counts = days.get(keyOf(past, event))
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
        try {
          await readPieces([...rest, ...recent])
          piecesAtOnce = Math.min(2 * piecesAtOnce, maxPieces)
        } catch (error) {
          if (rest.length === 0) throw error
          onPartial(error)
          await readPieces(recent)
          if (piecesAtOnce === 1) doWithout(rest[0] as Piece, now)
          piecesAtOnce = Math.max(1, Math.floor(Math.min(piecesAtOnce, rest.length) / 4))
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
