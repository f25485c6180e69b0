// Plausible's tables and statements, written by us after reading its repository (github.com/plausible/analytics, AGPL) at commit 9cc669b97e
// of 19 August 2026: tables as priv/ingest_repo/structure.sql and the migrations after it leave them, statements as
// lib/plausible/stats/sql/{query_builder,expression,where_builder}.ex and table_decider.ex build them, sampling as
// extra/lib/plausible/stats/sampling.ex (not in its community edition).
//   In its favour: a session has one row, as after all merges; events have no `engagement` rows, of which its tracker sends one for most
// pageviews; the share of each row, for which its dashboard reads all visitors once more, is not asked.
import { createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, sql, text, uint } from '../../src/stores/clickhouse-sql.ts'
import { cpuSeconds, round } from '../api/measure.ts'
import type { World } from '../scale/world.ts'
import { type Answer, type Numbers, periodsOfQuestion, type Question, rowsOfList, secondsOf } from './questions.ts'
import { estimates, type Reason, type Side } from './side.ts'

const word = 'LowCardinality(String)'
const compressed = 'String CODEC(ZSTD(3))'
const second = 'DateTime CODEC(Delta(4), LZ4)'
const list = 'Array(String) CODEC(ZSTD(3))'

/** In both tables. */
const ofVisits = {
  site_id: 'UInt64',
  user_id: 'UInt64',
  session_id: 'UInt64',
  hostname: compressed,
  referrer: compressed,
  referrer_source: compressed,
  screen_size: word,
  operating_system: word,
  operating_system_version: word,
  browser: word,
  browser_version: word,
  subdivision1_code: word,
  subdivision2_code: word,
  city_geoname_id: 'UInt32',
  utm_medium: compressed,
  utm_source: compressed,
  utm_campaign: compressed,
  utm_content: compressed,
  utm_term: compressed,
  click_id_param: word,
  channel: word,
  // Computed from the columns above by a function there. Filled with our channels here, so that the lists can be compared.
  acquisition_channel: word,
}

const events = {
  ...ofVisits,
  timestamp: second,
  name: word,
  pathname: compressed,
  country_code: 'FixedString(2)',
  'meta.key': list,
  'meta.value': list,
  revenue_reporting_amount: 'Nullable(Decimal64(3))',
  revenue_reporting_currency: 'FixedString(3)',
  revenue_source_amount: 'Nullable(Decimal64(3))',
  revenue_source_currency: 'FixedString(3)',
  scroll_depth: 'UInt8',
  engagement_time: 'UInt32',
}

const sessions = {
  ...ofVisits,
  sign: 'Int8',
  timestamp: second,
  start: second,
  is_bounce: 'UInt8',
  entry_page: compressed,
  exit_page: compressed,
  exit_page_hostname: compressed,
  pageviews: 'Int32',
  events: 'Int32',
  duration: 'UInt32',
  country_code: 'LowCardinality(FixedString(2))',
  transferred_from: 'String',
  'entry_meta.key': list,
  'entry_meta.value': list,
}

const columnsOf = (columns: Record<string, string>): string =>
  Object.entries(columns)
    .map(([name, type]) => `\`${name}\` ${type}`)
    .join(', ')

const tables = {
  events_v2: `(${columnsOf(events)}) ENGINE = MergeTree PARTITION BY toYYYYMM(timestamp)
    PRIMARY KEY (site_id, toDate(timestamp), name, user_id)
    ORDER BY (site_id, toDate(timestamp), name, user_id, timestamp) SAMPLE BY user_id`,
  sessions_v2: `(${columnsOf(sessions)}, INDEX minmax_timestamp timestamp TYPE minmax GRANULARITY 1)
    ENGINE = VersionedCollapsingMergeTree(sign, events) PARTITION BY toYYYYMM(start)
    PRIMARY KEY (site_id, toDate(start), user_id, session_id)
    ORDER BY (site_id, toDate(start), user_id, session_id) SAMPLE BY user_id`,
}

/** A visitor has a new id every day there, too. */
const userId = sql`cityHash64(day, visitor_id)`

const eventRows = (ours: Sql) => sql`
  INSERT INTO events_v2 (site_id, user_id, session_id, timestamp, name, hostname, pathname, referrer, referrer_source, country_code,
    screen_size, operating_system, browser, utm_medium, utm_source, utm_campaign, utm_content, utm_term, acquisition_channel,
    "meta.key", "meta.value")
  SELECT 1, ${userId}, session_id, toDateTime(time), name, hostname, pathname, referrer, referrer, country,
    device, os, browser, utm_medium, utm_source, utm_campaign, utm_content, utm_term, channel,
    mapKeys(props), mapValues(props)
  FROM ${ours}`

const sessionRows = (ours: Sql) => sql`
  INSERT INTO sessions_v2 (site_id, user_id, session_id, sign, start, timestamp, is_bounce, entry_page, exit_page, pageviews, events,
    duration, hostname, exit_page_hostname, referrer, referrer_source, country_code, screen_size, operating_system, browser, utm_medium,
    utm_source, utm_campaign, utm_content, utm_term, acquisition_channel)
  SELECT 1, any(${userId}), session_id, 1, toDateTime(min(time)) AS began, toDateTime(max(time)), count() = 1 AND countIf(isView) = 1,
    argMinIf(pathname, (time, event_id), isView), argMaxIf(pathname, (time, event_id), isView), countIf(isView), count(),
    dateDiff('second', min(time), max(time)), argMinIf(hostname, (time, event_id), isView),
    argMaxIf(hostname, (time, event_id), isView), any(referrer), any(referrer), any(country), any(device), any(os), any(browser),
    any(utm_medium), any(utm_source), any(utm_campaign), any(utm_content), any(utm_term), any(channel)
  FROM (SELECT *, name = 'pageview' AS isView FROM ${ours})
  GROUP BY session_id`

/** The fraction of users that a large range reads; undefined: all. `eventsOf30Days` is what it estimates traffic from. */
function sampleOf({ name, range }: Question, eventsOf30Days: number): number | undefined {
  const days = range === '30d' ? 30 : 365
  const filters = name.includes(' of ') ? 1 : 0
  const fraction = round(10_000_000 / ((eventsOf30Days / 30) * days * 0.25 ** filters), 2)
  return fraction > 0.4 ? undefined : Math.max(fraction, 0.013)
}

/** Two sides of the same tables: all rows, and sampled as its hosted edition does. */
export async function plausibleSides(
  world: World,
  { months, eventsOf30Days }: { months: readonly string[]; eventsOf30Days: number },
): Promise<Side[]> {
  const { clickhouseServer, now, state } = world
  const [whale] = world.sizes
  const url = `${clickhouseServer.url}/plausible`
  await createClickHouseDatabase(url)
  const clickhouse = openClickHouse(url)
  const writing = await state.once('filled plausible', async () => {
    for (const [name, definition] of Object.entries(tables)) {
      await clickhouse.command(`DROP TABLE IF EXISTS ${name} SYNC`)
      await clickhouse.command(`CREATE TABLE ${name} ${definition}`)
    }
    const before = cpuSeconds(clickhouseServer.pid)
    for (const month of months) {
      const ours = sql`(SELECT * FROM footfall.events WHERE site_id = ${text(whale.id)} AND toStartOfMonth(day) = toDate(${text(month)}))`
      await clickhouse.run(eventRows(ours))
      await clickhouse.run(sessionRows(ours))
    }
    return round(cpuSeconds(clickhouseServer.pid) - before, 1)
  })

  const rows = async (statement: Sql): Promise<Answer> => {
    const found = await clickhouse.rowsPatiently<Numbers & { value: string }>(statement)
    return new Map(found.map(({ value, ...numbers }) => [value, numbers]))
  }

  function statementsOf(question: Question, fraction: number | undefined): [Sql, ...Sql[]] {
    const { current, previous } = periodsOfQuestion(question, now)
    // FINAL is not used: rows of sign 1 and -1 are added up.
    const sampled = fraction === undefined ? sql`` : sql`SAMPLE ${sampleText(fraction)}`
    const scaled = (number: Sql) => sql`toUInt64(round(${number} * any(_sample_factor)))`
    const visitors = sql`${scaled(sql`uniq(user_id)`)} AS visitors`
    const pageviews = sql`${scaled(sql`countIf(name = 'pageview')`)} AS pageviews`
    const visits = sql`${scaled(sql`uniq(session_id)`)} AS sessions`
    /** The bounce rate under a filter of pages is that of the sessions which began there. */
    const rates = (entered = sql`true`) => sql`
      toUInt32(greatest(ifNotFinite(round(sumIf(is_bounce * sign, ${entered}) / sumIf(sign, ${entered}) * 100), 0), 0)) AS bounceRate,
      toUInt32(greatest(ifNotFinite(round(sum(duration * sign) / sum(sign)), 0), 0)) AS duration`
    const within = ({ first, last }: { first: number; last: number }) =>
      sql`site_id = 1 AND timestamp >= toDateTime(${uint(first)}) AND timestamp <= toDateTime(${uint(last)}) AND name != 'engagement'`
    const visitsWithin = ({ first, last }: { first: number; last: number }) =>
      sql`site_id = 1 AND start >= toDateTime(${uint(first - 7 * 86_400)}) AND timestamp >= toDateTime(${uint(first)})
        AND start <= toDateTime(${uint(last)})`
    const period = secondsOf(current)
    const ofEvents = (value: Sql, numbers: Sql, condition: Sql, order = sql`visitors`) => sql`
      SELECT ${value} AS value, ${numbers} FROM events_v2 ${sampled}
      WHERE ${within(period)} AND ${condition} GROUP BY value ORDER BY ${order} DESC LIMIT ${uint(rowsOfList)}`
    const ofSessions = (value: Sql, condition: Sql) => sql`
      SELECT ${value} AS value, ${visitors} FROM sessions_v2 ${sampled}
      WHERE ${visitsWithin(period)} AND ${condition} GROUP BY value ORDER BY visitors DESC LIMIT ${uint(rowsOfList)}`
    /** Two tables, joined into one row. */
    const totals = (during: { first: number; last: number }, condition: Sql, ofVisits: Sql) => sql`
      SELECT '' AS value, visitors, pageviews, sessions, bounceRate, duration
      FROM (SELECT ${visitors}, ${pageviews}, ${visits} FROM events_v2 ${sampled} WHERE ${within(during)} AND ${condition}) AS one
      CROSS JOIN (${ofVisits}) AS two`
    const ratesOf = (during: { first: number; last: number }, condition: Sql) =>
      sql`SELECT ${rates()} FROM sessions_v2 ${sampled} WHERE ${visitsWithin(during)} AND ${condition}`
    const all = sql`true`
    const onPage = sql`pathname = '/pricing'`
    const ofReferrer = sql`referrer = 'google.com'`
    switch (question.name) {
      case 'overview':
        return [period, secondsOf(previous)].map((during) => totals(during, all, ratesOf(during, all))) as [Sql, Sql]
      case 'timeseries':
        return [
          sql`SELECT toString(toDate(toTimeZone(timestamp, ${text(state.zone)}))) AS value, ${visitors}, ${pageviews} FROM events_v2 ${sampled}
            WHERE ${within(period)} GROUP BY value ORDER BY value`,
        ]
      case 'pages':
        return [ofEvents(sql`pathname`, visitors, sql`name = 'pageview'`)]
      case 'referrers':
        return [ofSessions(sql`referrer`, sql`referrer != ''`)]
      case 'channels':
        return [ofSessions(sql`acquisition_channel`, all)]
      case 'devices':
        return [ofSessions(sql`screen_size`, all)]
      case 'countries':
        return [ofSessions(sql`toString(country_code)`, sql`country_code != '\0\0'`)]
      case 'custom events':
        return [
          ofEvents(sql`name`, sql`${visitors}, ${scaled(sql`count()`)} AS count`, sql`name != 'pageview'`, sql`count`),
        ]
      case 'UTM sources':
        return [ofSessions(sql`utm_source`, sql`utm_source != ''`)]
      case 'totals of a page': {
        const sawIt = sql`SELECT DISTINCT session_id FROM events_v2 ${sampled} WHERE ${within(period)} AND ${onPage}`
        const visitsThatSawIt = sql`
          SELECT ${rates(sql`entry_page = '/pricing'`)} FROM sessions_v2 AS s ${sampled}
          JOIN (${sawIt}) AS e ON s.session_id = e.session_id WHERE ${visitsWithin(period)}`
        return [totals(period, onPage, visitsThatSawIt)]
      }
      case 'referrers of a page':
        return [ofEvents(sql`referrer`, visitors, sql`${onPage} AND referrer != ''`)]
      case 'totals of a referrer':
        return [totals(period, ofReferrer, ratesOf(period, ofReferrer))]
      case 'pages of a referrer':
        return [ofEvents(sql`pathname`, visitors, sql`${ofReferrer} AND name = 'pageview'`)]
      case 'browsers of a channel':
        return [ofSessions(sql`browser`, sql`acquisition_channel = 'Direct'`)]
      case 'countries of a section':
        return [ofEvents(sql`toString(country_code)`, visitors, sql`position(pathname, '/blog') > 0`)]
      case 'entry pages of a country':
        return [ofSessions(sql`entry_page`, sql`country_code = 'DE'`)]
    }
  }

  const ask = async (question: Question, fraction: number | undefined): Promise<Answer> => {
    const [first, ...others] = statementsOf(question, fraction)
    const [answer] = await Promise.all([first, ...others].map(rows))
    return answer as Answer
  }
  const bytes = async () => {
    const [row] = await clickhouse.rowsPatiently<{ bytes: number }>(
      sql`SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()`,
    )
    return row?.bytes ?? 0
  }
  const common = { source: 'github.com/plausible/analytics, commit 9cc669b97e', bytes, writing }
  return [
    { ...common, name: 'Plausible', ask: (question) => ask(question, undefined), reasons: plausibleReasons },
    {
      ...common,
      name: 'Plausible, sampled',
      ask(question) {
        const fraction = sampleOf(question, eventsOf30Days)
        return fraction === undefined ? undefined : ask(question, fraction)
      },
      reasons: [{ why: 'a part of the visitors is read, and the result multiplied' }, ...plausibleReasons],
    },
  ]
}

/** `SAMPLE` takes no parameter. */
function sampleText(fraction: number): Sql {
  const digits = Object.assign([String(fraction)], { raw: [String(fraction)] })
  return sql(digits)
}

const plausibleReasons: readonly Reason[] = [
  estimates,
  {
    why: 'under a filter of pages, the bounce rate is that of the sessions that began there',
    questions: ['totals of a page'],
    numbers: ['bounceRate'],
  },
]
