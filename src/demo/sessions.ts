// One row per session: time, visitor, source and length. Every choice is made by a hash of the seed, the session or visitor, and the
// name of the choice.
import { dayMs } from '../durations.ts'
import { join, type Sql, sql, text, texts, uint, uints } from '../stores/clickhouse-sql.ts'
import { indexOf, longTailed, pick, stepwise, uniform } from './draws.ts'
import { tailHostTable } from './pages.ts'
import { apartMs, maxSessionMs, type PlannedDay } from './plan.ts'
import { type DayKind, momentSteps, moments } from './rhythm.ts'
import { pageOf, type Tables } from './shape.ts'
import { browsers, campaignNames, contents, media, terms } from './visit-words.ts'
import { longTail } from './words.ts'

export interface SessionOptions {
  seed: number
  /** Makes ids unique to a site: two sites with the same seed have the same traffic, but no id in common. */
  salt: number
  tables: Tables
  /** The number of the first session, counted over all days of the site. */
  firstSession: number
  sessions: number
  /** The days that contain these sessions. */
  days: readonly PlannedDay[]
}

// Half of the sessions have one page, the others at least two. From the second page on, two out of three sessions view one more.
const onePagePercent = 50
const oneMoreOfThree = 2
const maxPages = 20
/** The percentage of sessions that have custom events, by number of pages. */
const customPercent = { onePage: 3, morePages: 10 }
/** Of twenty sessions with custom events, five have a second one, and one of these five has a third. */
const secondOfTwenty = 5
const thirdOfTwenty = 1

/** The resulting mean. It turns a number of events into a number of sessions to plan. */
export const eventsPerSession = (() => {
  const onePage = onePagePercent / 100
  const oneMore = oneMoreOfThree / 3
  const further = (oneMore * (1 - oneMore ** (maxPages - 2))) / (1 - oneMore)
  const pageviews = onePage + (1 - onePage) * (2 + further)
  const customs = (onePage * customPercent.onePage + (1 - onePage) * customPercent.morePages) / 100
  return pageviews + customs * (1 + (secondOfTwenty + thirdOfTwenty) / 20)
})()

/** A second visit is up to eight hours further away than the minimum. Small distances are more frequent. */
const furtherMs = 28_800_000

export function sessionRows({ seed, salt, tables, firstSession, sessions, days }: SessionOptions): Sql {
  const ofDay = (value: (day: PlannedDay) => number) => sql`${uints(days.map(value))}[nth_day]`
  const ofVisitor = (purpose: string) => sql`cityHash64(${uint(seed)}, day_number, visitor, ${text(purpose)})`
  const ofSession = (purpose: string) => sql`cityHash64(key, ${text(purpose)})`
  const { sources, countries, customEvents } = tables
  const weightOf = ([weight]: readonly [number, ...unknown[]]) => weight

  return stepwise(
    sql`numbers_mt(${uint(firstSession)}, ${uint(sessions)})`,
    [
      sql`number AS session`,
      sql`${indexOf(
        sql`session`,
        days.map((day) => day.firstSession),
      )} AS nth_day`,
      sql`cityHash64(${uint(seed)}, session) AS key`,
    ],
    [
      sql`${ofDay(({ date }) => dayNumber(date))} AS day_number`,
      sql`toInt64(${ofDay(({ start }) => start)}) AS day_start`,
      sql`toInt64(${ofDay(({ limitMs }) => limitMs)}) AS day_limit`,
      sql`${ofDay(({ kind }) => Number(kind === 'weekend'))} = 1 AS weekend`,
      sql`${ofDay(({ visitors }) => visitors)} AS visitors`,
      sql`session - ${ofDay((day) => day.firstSession)} AS index_of_day`,
      sql`${ofSession('push')} % 1000 < ${ofDay(({ push }) => Math.round(push.share * 1_000))} AS pushed`,
      // The golden ratio instead of a hash spreads the lengths of sessions evenly, so that even a few sessions have the planned sum.
      sql`${uniform(sql`(session * 11400714819323198485 + cityHash64(${uint(seed)}))`)} AS depth`,
    ],
    [
      // Every visitor comes once before any visitor comes twice.
      sql`index_of_day >= visitors AS returns`,
      sql`if(index_of_day >= visitors, index_of_day - visitors, index_of_day) AS visitor`,
      sql`if(depth < ${onePage}, 1, least(${uint(maxPages)}, 2 + ${further})) AS pageviews`,
      sql`if(pushed, ${ofDay(({ push }) => push.source)}, ${pick(ofSession('source'), sources.map(weightOf))}) AS source`,
      sql`${pick(ofSession('goal'), customEvents.map(weightOf))} AS goal`,
    ],
    [
      sql`${uniform(ofVisitor('start'))} * ${ofDay(({ reach }) => Math.floor(reach * 1e9))} / 1e9 AS share`,
      sql`${ofSession('custom')} % 100 < if(pageviews = 1, ${uint(customPercent.onePage)}, ${uint(customPercent.morePages)}) AS has_custom`,
      sql`${ofVisitor('device')} % 1000 AS device_draw`,
      sql`${ofSession('landing')} % 100 AS landing_draw`,
      sql`${texts(sources.map(([, , referrer]) => referrer))}[source] AS known_referrer`,
    ],
    [
      sql`least(toInt64(${rhythmic(sql`share`)} * ${ofDay(({ lengthMs }) => lengthMs)} / 86400000), day_limit - 1) AS first_start`,
      sql`${ofSession('customs')} % 20 AS of_twenty`,
    ],
    [sql`day_limit - first_start - ${uint(apartMs)} AS room`],
    [
      sql`toDate(day_number) AS day`,
      sql`cityHash64(${uint(salt)}, day_number, visitor, 'visitor') AS visitor_id`,
      sql`cityHash64(${uint(salt)}, session, 'session') AS session_id`,
      sql`multiIf(
        NOT returns, first_start,
        room > ${uint(maxSessionMs)}, first_start + ${uint(apartMs)} + ${within(ofSession('later'), sql`room`)},
        first_start - ${uint(apartMs)} - ${within(ofSession('earlier'), sql`first_start - ${uint(apartMs)}`)}
      ) AS session_start`,
      sql`if(has_custom, 1 + (of_twenty < ${uint(secondOfTwenty)}) + (of_twenty < ${uint(thirdOfTwenty)}), 0) AS customs`,
      sql`${uints(customEvents.map(([, , path]) => pageOf(path)))}[goal] AS goal_page`,
      sql`multiIf(
        pushed, ${ofDay(({ push }) => push.page)},
        landing_draw < 18, 1,
        landing_draw < 23, ${ofDay(({ trendingPage }) => trendingPage)},
        ${longTailed(ofSession('landing page'), tables.pages)}
      ) AS landing_page`,
      sql`if(
        known_referrer = ${text(longTail)},
        ${tailHostTable(tables.tailHosts, seed)}[${longTailed(ofSession('tail'), tables.tailHosts)}],
        known_referrer
      ) AS referrer`,
      sql`${texts(sources.map(([, channel]) => channel))}[source] AS channel`,
      sql`${texts(sources.map(([, , , utmSource]) => utmSource))}[source] AS utm_source`,
      sql`${texts(countries.map(([code]) => code))}[${pick(
        ofVisitor('country'),
        countries.map(([, weight]) => weight),
      )}] AS country`,
      sql`multiIf(
        device_draw < 4, 'Unknown',
        device_draw < 40, 'Tablet',
        device_draw < if(weekend, 590, 450), 'Mobile',
        'Desktop'
      ) AS device`,
    ],
    [
      sql`utm_source != '' AS tagged`,
      sql`if(tagged, ${texts(sources.map(([, channel]) => media[channel]?.[0] ?? ''))}[source], '') AS utm_medium`,
      sql`if(tagged, concat(
        ${texts(sources.map(([, channel]) => media[channel]?.[1] ?? ''))}[source],
        ${oneOf(campaignNames, ofSession('campaign'))}
      ), '') AS utm_campaign`,
      sql`if(tagged AND ${ofSession('has content')} % 10 < 4, ${oneOf(contents, ofSession('content'))}, '') AS utm_content`,
      // Search engines report the words for which an ad was shown.
      sql`if(
        tagged AND channel IN ('Paid Search', 'Paid Shopping') AND ${ofSession('has term')} % 10 < 7,
        ${oneOf(terms, ofSession('term'))}, ''
      ) AS utm_term`,
      sql`${browserOf(sql`device`, ofVisitor('browser'))} AS browser_and_os`,
    ],
    [sql`browser_and_os.1 AS browser`, sql`browser_and_os.2 AS os`],
  )
}

const oneOf = (values: readonly string[], hash: Sql): Sql => sql`${texts(values)}[${longTailed(hash, values.length)}]`

/** A tuple of browser and system. */
function browserOf(device: Sql, hash: Sql): Sql {
  const branches = Object.entries(browsers).map(([name, table]) => {
    const index = pick(
      hash,
      table.map(([weight]) => weight),
    )
    const names = sql`${texts(table.map(([, browser]) => browser))}[${index}]`
    return sql`${device} = ${text(name)}, (${names}, ${texts(table.map(([, , os]) => os))}[${index}])`
  })
  return sql`multiIf(${join(branches, sql`, `)}, ('', ''))`
}

const onePage = sql`(${uint(onePagePercent)} / 100)`

/** Pages beyond the second, for a session with a depth above that of one page. */
const further = sql`toUInt64(log(least(1, (1 - depth) / (1 - ${onePage}))) / log(${uint(oneMoreOfThree)} / 3))`

/** The moment, in milliseconds of a 24-hour day, by which this share of its visits has begun. */
function rhythmic(share: Sql): Sql {
  const steps = sql`(${share} * ${uint(momentSteps)})`
  const moment = (kind: DayKind) => {
    const [all, step] = [uints(moments(kind)), sql`toUInt64(${steps})`]
    return sql`(${all}[${step} + 1] + (${all}[${step} + 2] - ${all}[${step} + 1]) * (${steps} - ${step}))`
  }
  return sql`if(weekend, ${moment('weekend')}, ${moment('work')})`
}

const within = (hash: Sql, room: Sql): Sql =>
  sql`toInt64(pow(${uniform(hash)}, 2) * least(${room}, ${uint(furtherMs)}))`

/** Days since the epoch. */
export const dayNumber = (date: string): number => Date.parse(date) / dayMs
