export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
/** Of 24 hours; a day of a time zone may have 23 or 25. */
export const dayMs = 24 * hourMs

export const hourSeconds = 60 * 60
export const daySeconds = 24 * hourSeconds
