// Umami's tables and statements, written by us after reading its repository (github.com/umami-software/umami, MIT) at commit c0ea3aefbe of
// 14 May 2026: tables as db/clickhouse/schema.sql, statements as src/queries/sql/{getWebsiteStats,pageviews/*,sessions/*,events/*}.ts with
// src/lib/clickhouse.ts. Its ClickHouse edition sums events by hour and visit, and reads those sums where no filter of pages, referrers or
// events is set.
//   In its favour: the tables of properties, revenue and recordings are not written.
import { createClickHouseDatabase, openClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, sql, text, uint } from '../../src/stores/clickhouse-sql.ts'
import { cpuSeconds, round } from '../api/measure.ts'
import type { World } from '../scale/world.ts'
import { type Answer, type Numbers, periodsOfQuestion, type Question, rowsOfList, secondsOf } from './questions.ts'
import { estimates, type Reason, type Side } from './side.ts'

const word = 'LowCardinality(String)'
const words = 'SimpleAggregateFunction(groupArrayArray, Array(String))'
const second = "DateTime('UTC')"
const all = (names: readonly string[], type: string) => Object.fromEntries(names.map((name) => [name, type]))

const ids = all(['website_id', 'session_id', 'visit_id'], 'UUID')
const ofSession = {
  ...all(['browser', 'os', 'device', 'screen', 'language', 'country', 'region'], word),
  city: 'String',
}
const utm = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term']
const clickIds = ['gclid', 'fbclid', 'msclkid', 'ttclid', 'li_fat_id', 'twclid']
const ofAddress = ['url_query', ...utm]

const events = {
  ...ids,
  event_id: 'UUID',
  hostname: word,
  ...ofSession,
  ...all(
    ['url_path', ...ofAddress, 'referrer_path', 'referrer_query', 'referrer_domain', 'page_title', ...clickIds],
    'String',
  ),
  ...all(['lcp', 'inp', 'fcp', 'ttfb'], 'Nullable(Decimal(10, 1))'),
  cls: 'Nullable(Decimal(10, 4))',
  event_type: 'UInt32',
  ...all(['event_name', 'tag', 'distinct_id'], 'String'),
  created_at: second,
  job_id: 'Nullable(UUID)',
}

/** Lists of the values of an hour of a visit. */
const listed = [...ofAddress, 'referrer_domain', 'page_title', ...clickIds, 'tag']

const hours = {
  ...ids,
  hostname: words,
  ...ofSession,
  entry_url: `AggregateFunction(argMin, String, ${second})`,
  exit_url: `AggregateFunction(argMax, String, ${second})`,
  url_path: words,
  ...all(listed, words),
  event_type: 'UInt32',
  event_name: words,
  views: 'SimpleAggregateFunction(sum, UInt64)',
  min_time: `SimpleAggregateFunction(min, ${second})`,
  max_time: `SimpleAggregateFunction(max, ${second})`,
  distinct_id: 'String',
  created_at: second,
}

const columnsOf = (columns: Record<string, string>): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')

const projection = (column: string) =>
  `PROJECTION by_${column} (SELECT * ORDER BY toStartOfDay(created_at), website_id, ${column}, created_at)`

const grouped = [...Object.keys(ids), ...Object.keys(ofSession), 'event_type', 'distinct_id']
const filled = (name: string) =>
  `arrayFilter(x -> x != ''${name === 'referrer_domain' ? ' AND x != hostname' : ''}, groupArray(${name})) AS ${name}s`

const definitions = [
  `CREATE TABLE website_event (${columnsOf(events)}, ${projection('url_path')}, ${projection('referrer_domain')})
    ENGINE = MergeTree PARTITION BY toYYYYMM(created_at)
    PRIMARY KEY (toStartOfHour(created_at), website_id, session_id, visit_id)
    ORDER BY (toStartOfHour(created_at), website_id, session_id, visit_id, created_at)`,
  `CREATE TABLE website_event_stats_hourly (${columnsOf(hours)})
    ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(created_at)
    ORDER BY (website_id, event_type, toStartOfHour(created_at), cityHash64(visit_id), visit_id) SAMPLE BY cityHash64(visit_id)
    SETTINGS allow_dimensions_outside_sorting_key = 1`,
  `CREATE MATERIALIZED VIEW website_event_stats_hourly_mv TO website_event_stats_hourly AS
    SELECT ${grouped.join(', ')}, hosts AS hostname, entry_url, exit_url, paths AS url_path,
      ${listed.map((name) => `${name}s AS ${name}`).join(', ')},
      names AS event_name, views, min_time, max_time, hour AS created_at
    FROM (
      SELECT ${grouped.join(', ')}, arrayFilter(x -> x != '', groupArray(hostname)) AS hosts,
        argMinState(url_path, created_at) AS entry_url, argMaxState(url_path, created_at) AS exit_url,
        arrayFilter(x -> x != '', groupArray(url_path)) AS paths, ${listed.map(filled).join(', ')},
        if(event_type = 2, groupArray(event_name), []) AS names, sumIf(1, event_type NOT IN (2, 5)) AS views,
        min(created_at) AS min_time, max(created_at) AS max_time, toStartOfHour(created_at) AS hour
      FROM website_event GROUP BY ${grouped.join(', ')}, hostname, hour)`,
]

const website = sql`toUUID('00000000-0000-0000-0000-000000000001')`

/** Later pages of a visit were opened on the site itself, and have no UTM fields in their address. */
export const landing = sql`row_number() OVER (PARTITION BY session_id ORDER BY time, event_id) = 1`

const eventRows = (ours: Sql) => sql`
  INSERT INTO website_event (website_id, session_id, visit_id, event_id, hostname, browser, os, device, country, url_path, url_query,
    utm_source, utm_medium, utm_campaign, utm_content, utm_term, referrer_domain, event_type, event_name, created_at)
  SELECT ${website}, reinterpretAsUUID(sipHash128(day, visitor_id)), reinterpretAsUUID(sipHash128(session_id)),
    reinterpretAsUUID(sipHash128(event_id, time)), hostname, browser, os, device, country, pathname,
    if(isLanding AND utm_source != '', concat('utm_source=', utm_source), ''),
    if(isLanding, utm_source, ''), if(isLanding, utm_medium, ''), if(isLanding, utm_campaign, ''), if(isLanding, utm_content, ''),
    if(isLanding, utm_term, ''), if(isLanding, referrer, hostname), if(name = 'pageview', 1, 2), if(name = 'pageview', '', name),
    toDateTime(time)
  FROM (SELECT *, ${landing} AS isLanding FROM ${ours})`

export async function umamiSide(world: World, months: readonly string[]): Promise<Side> {
  const { clickhouseServer, now, state } = world
  const [whale] = world.sizes
  const url = `${clickhouseServer.url}/umami`
  await createClickHouseDatabase(url)
  const clickhouse = openClickHouse(url)
  const writing = await state.once('filled umami', async () => {
    for (const name of ['website_event_stats_hourly_mv', 'website_event_stats_hourly', 'website_event'])
      await clickhouse.command(`DROP TABLE IF EXISTS ${name} SYNC`)
    for (const definition of definitions) await clickhouse.command(definition)
    const before = cpuSeconds(clickhouseServer.pid)
    for (const month of months)
      await clickhouse.run(
        eventRows(
          sql`(SELECT * FROM footfall.events WHERE site_id = ${text(whale.id)} AND toStartOfMonth(day) = toDate(${text(month)}))`,
        ),
      )
    return round(cpuSeconds(clickhouseServer.pid) - before, 1)
  })

  const rows = async (statement: Sql): Promise<Answer> => {
    const found = await clickhouse.rowsPatiently<Numbers & { value: string }>(statement)
    return new Map(found.map(({ value, ...numbers }) => [value, numbers]))
  }

  function statementsOf(question: Question): [Sql, ...Sql[]] | undefined {
    const { current, previous } = periodsOfQuestion(question, now)
    const within = ({ first, last }: { first: number; last: number }, condition = sql`true`) => sql`
      website_id = ${website} AND created_at BETWEEN toDateTime(${uint(first)}) AND toDateTime(${uint(last)})
      AND event_type NOT IN (2, 5) AND ${condition}`
    const period = secondsOf(current)
    const top = sql`GROUP BY value ORDER BY visitors DESC LIMIT ${uint(rowsOfList)}`
    const five = (visits: Sql) => sql`
      SELECT '' AS value, sum(views) AS pageviews, uniq(session_id) AS visitors, uniq(visit_id) AS sessions,
        round(countIf(views = 1) / sessions * 100) AS bounceRate, round(sum(last - first) / sessions) AS duration
      FROM (${visits})`
    const overview = (during: { first: number; last: number }) =>
      five(sql`
        SELECT session_id, visit_id, sum(views) AS views, min(min_time) AS first, max(max_time) AS last
        FROM website_event_stats_hourly WHERE ${within(during)} GROUP BY session_id, visit_id`)
    const filtered = (condition: Sql) =>
      five(sql`
        SELECT session_id, visit_id, count() AS views, min(created_at) AS first, max(created_at) AS last
        FROM website_event WHERE ${within(period, condition)} GROUP BY session_id, visit_id`)
    /** A list of the sums by hour has all values of the hour. */
    const fromLists = (column: Sql) => sql`
      SELECT value, uniq(session_id) AS visitors
      FROM (SELECT session_id, arrayJoin(${column}) AS value FROM website_event_stats_hourly WHERE ${within(period)})
      WHERE value != '' ${top}`
    const fromHours = (column: Sql) => sql`
      SELECT ${column} AS value, uniq(session_id) AS visitors FROM website_event_stats_hourly
      WHERE ${within(period)} AND value != '' ${top}`
    const fromEvents = (column: Sql, condition: Sql) => sql`
      SELECT ${column} AS value, uniq(session_id) AS visitors FROM website_event
      WHERE ${within(period, condition)} AND value != '' ${top}`
    const byDay = (number: Sql) => sql`
      SELECT toString(toDate(date_trunc('day', created_at, ${text(state.zone)}))) AS value, ${number}
      FROM website_event_stats_hourly WHERE ${within(period)} GROUP BY value ORDER BY value`
    const ofReferrer = sql`referrer_domain = 'google.com' AND referrer_domain != hostname`
    switch (question.name) {
      case 'overview':
        return [overview(period), overview(secondsOf(previous))]
      case 'timeseries':
        return [byDay(sql`uniq(session_id) AS visitors`), byDay(sql`sum(views) AS pageviews`)]
      case 'pages':
        return [fromLists(sql`url_path`)]
      case 'referrers':
        return [fromLists(sql`referrer_domain`)]
      case 'devices':
        return [fromHours(sql`device`)]
      case 'countries':
        return [fromHours(sql`country`)]
      case 'custom events':
        return [
          sql`SELECT event_name AS value, count() AS count FROM website_event
            WHERE website_id = ${website} AND created_at BETWEEN toDateTime(${uint(period.first)}) AND toDateTime(${uint(period.last)})
              AND event_type = 2 GROUP BY value ORDER BY count DESC LIMIT ${uint(rowsOfList)}`,
        ]
      case 'UTM sources':
        return [fromLists(sql`utm_source`)]
      case 'totals of a page':
        return [filtered(sql`url_path IN ['/pricing']`)]
      case 'referrers of a page':
        return [fromEvents(sql`referrer_domain`, sql`url_path IN ['/pricing'] AND referrer_domain != hostname`)]
      case 'totals of a referrer':
        return [filtered(ofReferrer)]
      case 'pages of a referrer':
        return [fromEvents(sql`url_path`, ofReferrer)]
      case 'countries of a section':
        return [fromEvents(sql`country`, sql`positionCaseInsensitive(url_path, '/blog') > 0`)]
      case 'entry pages of a country':
        return [
          sql`SELECT value, uniq(session_id) AS visitors
            FROM (SELECT session_id, argMinMerge(entry_url) AS value FROM website_event_stats_hourly
              WHERE ${within(period)} AND country IN ['DE'] GROUP BY session_id)
            WHERE value != '' ${top}`,
        ]
      // Its channels have other names and rules, and nothing can be filtered by them.
      case 'channels':
      case 'browsers of a channel':
        return undefined
    }
  }

  return {
    name: 'Umami on ClickHouse',
    source: 'github.com/umami-software/umami, commit c0ea3aefbe',
    ask(question) {
      const statements = statementsOf(question)
      return statements && Promise.all(statements.map(rows)).then(merged)
    },
    async bytes() {
      const [row] = await clickhouse.rowsPatiently<{ bytes: number }>(
        sql`SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()`,
      )
      return row?.bytes ?? 0
    },
    writing,
    reasons: [estimates, ...umamiReasons],
  }
}

/** Several numbers of one list. An overview of two periods is compared for the first. */
const merged = (answers: readonly Answer[]): Answer => {
  const [first, second] = answers as [Answer, Answer?]
  if (!second || first.has('')) return first
  return new Map([...first].map(([value, numbers]) => [value, { ...numbers, ...second.get(value) }]))
}

const onlyPageviews =
  'only pageviews count, so a custom event neither prevents a bounce nor prolongs a visit, and a visit without pageviews is none'

export const umamiReasons: readonly Reason[] = [
  { why: onlyPageviews, questions: ['overview'], numbers: ['bounceRate', 'duration'] },
  {
    why: 'a filter is about single hits: later pages of a visit do not have its referrer, and bounces and durations are those of the hits that match',
    questions: ['totals of a page', 'referrers of a page', 'totals of a referrer', 'pages of a referrer'],
  },
  { why: 'one entry page of each visitor, not of each session', questions: ['entry pages of a country'] },
]
