interface Day {
  name: string
  startsAt: number
  endsAt: number
}

const latest = new Map<string, Day>()

/** The calendar day of an instant in a zone, `YYYY-MM-DD` (decision D-1). Called for every hit, computed once per day and zone. */
export function dayIn(zone: string, time: number): string {
  const cached = latest.get(zone)
  if (cached && time >= cached.startsAt && time < cached.endsAt) return cached.name
  const date = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).toPlainDate()
  const day = {
    name: date.toString(),
    // Midnight by the zone's rules: a day may have 23 or 25 hours, or begin at one o'clock.
    startsAt: date.toZonedDateTime(zone).epochMilliseconds,
    endsAt: date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds,
  }
  latest.set(zone, day)
  return day.name
}
