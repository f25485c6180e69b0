// Loaded before all other code (`--import`) into processes whose current time is the end of the bench's traffic: the data is generated once
// and queried for days, and today must stay half over. The clock runs on from there, so that limits and caches work.
const shift = Number(process.env.FOOTFALL_BENCH_CLOCK_SHIFT)
const real = Date.now
Date.now = () => real() + shift
const instant = Temporal.Now.instant
Temporal.Now.instant = () => instant().add({ milliseconds: shift })
Temporal.Now.zonedDateTimeISO = (zone) => Temporal.Now.instant().toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId())
