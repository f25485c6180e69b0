/** Calendar days from the first to the last, both inclusive, `YYYY-MM-DD`. */
export type DayRange = readonly [first: string, last: string]

/** The days and whole months of a site that may be read from tallies under one version (decision D-73). */
export interface Fold {
  version: number
  days: readonly DayRange[]
  /** From the first day of a month to the last of one. */
  months: readonly DayRange[]
}

/** The days of a busy site that are not closed yet, as they were at an instant (decision D-81). */
export interface OpenFold {
  version: number
  days: DayRange
  /** UTC milliseconds; what happened later is in no tally. */
  asOf: number
  /** Closed days from their beginning until an instant: where the windows end that this moment is compared with. */
  parts: readonly DayPart[]
}

export interface DayPart {
  day: string
  /** UTC milliseconds. */
  until: number
  /** That the whole day was readable under: under another one, events have come since. */
  version: number
}
