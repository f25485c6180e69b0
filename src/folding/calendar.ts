/** What arrives within half an hour of midnight is still in time. */
const graceMs = 30 * 60_000

export const dayOf = (zone: string, instant: number): string =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainDate().toString()

export const dayAfter = (day: string): string => Temporal.PlainDate.from(day).add({ days: 1 }).toString()

/** The last day of a zone that is closed: half an hour after its midnight. */
export const lastClosedDay = (zone: string, now: number): string =>
  Temporal.PlainDate.from(dayOf(zone, now - graceMs))
    .subtract({ days: 1 })
    .toString()
