// The published invariants (section 1, invariants 1 to 5) of the responses to the same parameters. Anyone can check them without knowing the
// traffic. The list of breaches is empty when all hold. They need a limit without effect: use limit=100 and have fewer rows.

interface Metrics {
  visitors: number
  pageviews: number
  sessions: number
  bounce_rate: number
  avg_duration: number
}

/** The `data` of the nine responses. */
export interface Answers {
  overview: { current: Metrics; previous: Metrics; change: Record<keyof Metrics, number | null> }
  timeseries: { date: string; visitors: number; pageviews: number }[]
  pages: { pathname: string; title: string; views: number; visitors: number }[]
  referrers: { referrer: string; views: number; visitors: number }[]
  channels: { channel: string; visitors: number; percentage: number }[]
  devices: { name: string; visitors: number }[]
  geo: { name: string; visitors: number }[]
  events: { name: string; count: number; visitors: number }[]
  utm: { name: string; visitors: number }[]
}

const sum = <Row>(rows: readonly Row[], number: (row: Row) => number): number =>
  rows.reduce((total, row) => total + number(row), 0)

const differ = (what: string, left: number, right: number): string[] =>
  left === right ? [] : [`${what}: ${left} is not ${right}`]

/** 1. The days add up to the total. */
function daysAddUp({ overview: { current }, timeseries }: Answers): string[] {
  return [
    ...differ(
      '1: sum of timeseries.visitors = overview.visitors',
      sum(timeseries, (row) => row.visitors),
      current.visitors,
    ),
    ...differ(
      '1: sum of timeseries.pageviews = overview.pageviews',
      sum(timeseries, (row) => row.pageviews),
      current.pageviews,
    ),
  ]
}

/** 2. Every visitor has one country and one device. */
function countriesAndDevicesAddUp({ overview: { current }, geo, devices }: Answers): string[] {
  return [
    ...differ(
      '2: sum of geo.visitors = overview.visitors',
      sum(geo, (row) => row.visitors),
      current.visitors,
    ),
    ...differ(
      '2: sum of devices.visitors = overview.visitors',
      sum(devices, (row) => row.visitors),
      current.visitors,
    ),
  ]
}

/** 3. Every view belongs to one page, and no part is larger than the total. */
function pagesAddUp(answers: Answers): string[] {
  const { visitors, pageviews } = answers.overview.current
  const breaches = differ(
    '3: sum of pages.views = overview.pageviews',
    sum(answers.pages, (row) => row.views),
    pageviews,
  )
  const { timeseries, pages, referrers, channels, devices, geo, events, utm } = answers
  for (const row of [timeseries, pages, referrers, channels, devices, geo, events, utm].flat()) {
    if (row.visitors > visitors) breaches.push(`3: more visitors than the total of ${visitors}: ${JSON.stringify(row)}`)
    const views = 'views' in row ? row.views : 'pageviews' in row ? row.pageviews : 0
    if (views > pageviews) breaches.push(`3: more views than the total of ${pageviews}: ${JSON.stringify(row)}`)
    if ('percentage' in row && row.percentage > 100) breaches.push(`3: more than 100 %: ${JSON.stringify(row)}`)
  }
  return breaches
}

/** 5. A client computes the same change from the two printed numbers. */
function changeCanBeRecomputed({ overview: { current, previous, change } }: Answers): string[] {
  const breaches: string[] = []
  for (const [name, printed] of Object.entries(change)) {
    const [now, before] = [current[name as keyof Metrics], previous[name as keyof Metrics]]
    if (before === 0 || printed === null) {
      if (before !== 0 || printed !== null) breaches.push(`5: change.${name} of ${before} to ${now} is ${printed}`)
      continue
    }
    // One decimal, and at most half a tenth from the exact quotient: 1000 (now - before) / before in tenths.
    const tenths = Math.round(printed * 10)
    const error = Math.abs(1000 * (now - before) - tenths * before)
    const isHalf = 2 * error === before
    const awayFromZero = Math.abs(tenths * before) > Math.abs(1000 * (now - before))
    if (tenths / 10 !== printed || 2 * error > before || (isHalf && !awayFromZero)) {
      breaches.push(`5: change.${name} of ${before} to ${now} is ${printed}`)
    }
  }
  return breaches
}

/**
 * 4. Excluding a country subtracts exactly what `?country=` showed, row by row, and removes empty rows. Rates, shares and titles are no
 * counts.
 */
export function excludingTakesAway(before: Answers, ofTheCountry: Answers, after: Answers): string[] {
  const [whole, part, rest] = [countsOf(before), countsOf(ofTheCountry), countsOf(after)]
  return [...new Set([...whole.keys(), ...part.keys(), ...rest.keys()])].flatMap((name) => {
    const left = (whole.get(name) ?? 0) - (part.get(name) ?? 0)
    return differ(`4: ${name} after the exclusion`, rest.get(name) ?? 0, left)
  })
}

/** Every count of the nine responses by name; `pages / views` are the views of the page `/`. */
function countsOf(answers: Answers): Map<string, number> {
  const counts = new Map<string, number>()
  for (const period of ['current', 'previous'] as const) {
    for (const metric of ['visitors', 'pageviews', 'sessions'] as const) {
      counts.set(`overview ${period} ${metric}`, answers.overview[period][metric])
    }
  }
  const { overview, ...lists } = answers
  for (const [report, rows] of Object.entries(lists)) {
    for (const row of rows) {
      const label = String(Object.values(row)[0])
      for (const [field, value] of Object.entries(row)) {
        if (typeof value === 'number' && field !== 'percentage') counts.set(`${report} ${label} ${field}`, value)
      }
    }
  }
  return counts
}

/** An empty row is not printed (4), except for a day: days have no gaps. */
function noEmptyRows({ timeseries, overview, ...lists }: Answers): string[] {
  return Object.entries(lists).flatMap(([report, rows]) =>
    rows.filter((row) => row.visitors === 0).map((row) => `4: an empty row in ${report}: ${JSON.stringify(row)}`),
  )
}

/** The conditions on one set of responses; 4 needs three sets and is checked separately. 2 and 3 hold for days of the site itself. */
export const breachesOf = (answers: Answers, hasOwnDaysOnly = true): string[] =>
  [
    daysAddUp,
    ...(hasOwnDaysOnly ? [countriesAndDevicesAddUp, pagesAddUp] : []),
    noEmptyRows,
    changeCanBeRecomputed,
  ].flatMap((holds) => holds(answers))
