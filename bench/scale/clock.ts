// Loaded before everything else (`--import`) into processes that are to live when the bench's traffic ends: the data is made once and
// asked for days, and today must stay the half day it was. The clock runs on from there, for limits and caches to work.
const shift = Number(process.env.FOOTFALL_BENCH_CLOCK_SHIFT)
const real = Date.now
Date.now = () => real() + shift
const instant = Temporal.Now.instant
Temporal.Now.instant = () => instant().add({ milliseconds: shift })
Temporal.Now.zonedDateTimeISO = (zone) => Temporal.Now.instant().toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId())
