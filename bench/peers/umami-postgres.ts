// Umami's other edition: PostgreSQL alone. Tables and indexes as its prisma/schema.prisma, statements as the `relationalQuery` of the files
// that umami.ts names, at the same commit. PostgreSQL is the one of this machine, with its settings.
import { pipeline } from 'node:stream/promises'
import { render, type Sql, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { createPostgresDatabase, openPostgres } from '../../src/stores/postgres.ts'
import type { World } from '../scale/world.ts'
import { type Answer, type Numbers, periodsOfQuestion, type Question, rowsOfList, secondsOf } from './questions.ts'
import type { Side } from './side.ts'
import { landing, umamiReasons } from './umami.ts'

const utm = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term']
const clickIds = ['gclid', 'fbclid', 'msclkid', 'ttclid', 'li_fat_id', 'twclid']
const varchar = (names: readonly string[], length: number) =>
  names.map((name) => `${name} varchar(${length})`).join(', ')

/** What an index holds after the website and the time. */
const ofSessions = ['browser', 'os', 'device', 'screen', 'language', 'country', 'region', 'city']
const ofEvents = ['url_path', 'url_query', 'referrer_domain', 'page_title', 'event_name', 'tag', 'hostname']

const definitions = [
  `CREATE TABLE session (session_id uuid PRIMARY KEY, website_id uuid NOT NULL, ${varchar(['browser', 'os', 'device', 'region'], 20)},
    screen varchar(11), language varchar(35), country char(2), city varchar(50), distinct_id varchar(50), created_at timestamptz DEFAULT now())`,
  `CREATE TABLE website_event (event_id uuid PRIMARY KEY, website_id uuid NOT NULL, session_id uuid NOT NULL, visit_id uuid NOT NULL,
    created_at timestamptz DEFAULT now(), url_path varchar(500) NOT NULL,
    ${varchar(['url_query', 'referrer_path', 'referrer_query', 'referrer_domain', 'page_title'], 500)}, ${varchar([...utm, ...clickIds], 255)},
    event_type integer NOT NULL DEFAULT 1, event_name varchar(50), tag varchar(50), hostname varchar(100),
    lcp decimal(10, 1), inp decimal(10, 1), cls decimal(10, 4), fcp decimal(10, 1), ttfb decimal(10, 1))`,
]

const indexes = [
  ...[
    'created_at',
    'website_id',
    'website_id, created_at',
    ...ofSessions.map((name) => `website_id, created_at, ${name}`),
  ].map((columns) => `CREATE INDEX ON session (${columns})`),
  ...[
    ...['created_at', 'session_id', 'visit_id', 'website_id', 'website_id, created_at'],
    ...ofEvents.map((name) => `website_id, created_at, ${name}`),
    ...['website_id, session_id, created_at', 'website_id, visit_id, created_at'],
  ].map((columns) => `CREATE INDEX ON website_event (${columns})`),
]

const website = '00000000-0000-0000-0000-000000000001'

export async function umamiPostgresSide(world: World): Promise<Side> {
  const { clickhouseServer, now, state, postgresUrl } = world
  const [whale] = world.sizes
  const url = Object.assign(new URL(postgresUrl), { pathname: `${new URL(postgresUrl).pathname}_umami` }).href
  await createPostgresDatabase(url)
  const postgres = openPostgres(url, 4)
  const ours = sql`(SELECT *, ${landing} AS isLanding FROM events WHERE site_id = ${text(whale.id)})`

  /** Rows go from one server into the other as CSV. */
  async function fill(columns: string, into: string, statement: Sql): Promise<void> {
    const { text: query, parameters } = render(statement)
    const address = new URL(clickhouseServer.url)
    address.searchParams.set('database', 'footfall')
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(`param_${name}`, String(value))
    const headers = { 'x-clickhouse-user': address.username, 'x-clickhouse-key': address.password }
    Object.assign(address, { username: '', password: '' }) // `fetch` refuses an address with a password
    const response = await fetch(address, { method: 'POST', headers, body: `${query} FORMAT CSV` })
    if (!response.ok || !response.body) throw new Error(await response.text())
    const writable = await postgres.unsafe(`COPY ${into} (${columns}) FROM STDIN WITH (FORMAT csv)`).writable()
    await pipeline(response.body, writable)
  }

  const writing = await state.once('filled umami on postgresql', async () => {
    await postgres`DROP TABLE IF EXISTS session, website_event`
    for (const statement of [...definitions, ...indexes]) await postgres.unsafe(statement)
    const began = performance.now()
    await fill(
      'session_id, website_id, browser, os, device, country, created_at',
      'session',
      sql`SELECT reinterpretAsUUID(sipHash128(day, visitor_id)) AS id, ${text(website)}, left(any(browser), 20), any(os), any(device), any(country),
          formatDateTime(min(time), '%F %T+00') FROM ${ours} GROUP BY id`,
    )
    await fill(
      `event_id, website_id, session_id, visit_id, created_at, url_path, ${utm.join(', ')}, referrer_domain, event_type, event_name, hostname`,
      'website_event',
      sql`SELECT reinterpretAsUUID(sipHash128(event_id, time)), ${text(website)}, reinterpretAsUUID(sipHash128(day, visitor_id)),
          reinterpretAsUUID(sipHash128(session_id)), formatDateTime(time, '%F %T+00'), pathname, if(isLanding, utm_source, ''),
          if(isLanding, utm_medium, ''), if(isLanding, utm_campaign, ''), if(isLanding, utm_content, ''), if(isLanding, utm_term, ''),
          if(isLanding, referrer, replaceRegexpOne(hostname, '^www[.]', '')), if(name = 'pageview', 1, 2), name, hostname FROM ${ours}`,
    )
    await postgres`VACUUM ANALYZE`
    return Math.round((performance.now() - began) / 1_000)
  })

  async function rows(statement: string, values: readonly (string | number)[]): Promise<Answer> {
    const found = await postgres.unsafe<{ value: string }[]>(statement, [...values])
    return new Map(
      found.map(({ value, ...numbers }) => [
        value,
        Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, Number(number)])) as Numbers,
      ]),
    )
  }

  async function ask(question: Question): Promise<Answer | undefined> {
    const { current, previous } = periodsOfQuestion(question, now)
    const valuesOf = ({ first, last }: { first: number; last: number }) => [website, first, last]
    const values = valuesOf(secondsOf(current))
    const within = `website_event.website_id = $1::uuid AND website_event.created_at BETWEEN to_timestamp($2::int) AND to_timestamp($3::int)
      AND website_event.event_type NOT IN (2, 5)`
    const five = (condition: string) => `
      SELECT '' AS value, coalesce(sum(views), 0) AS pageviews, count(DISTINCT session_id) AS visitors, count(DISTINCT visit_id) AS sessions,
        round(100.0 * count(*) FILTER (WHERE views = 1) / nullif(count(DISTINCT visit_id), 0)) AS "bounceRate",
        round(coalesce(sum(extract(epoch FROM last - first)), 0) / nullif(count(DISTINCT visit_id), 0)) AS duration
      FROM (SELECT session_id, visit_id, count(*) AS views, min(created_at) AS first, max(created_at) AS last
        FROM website_event WHERE ${within} AND ${condition} GROUP BY 1, 2) AS visits`
    const list = (column: string, condition = 'true', from = 'website_event') => `
      SELECT ${column} AS value, count(DISTINCT website_event.session_id) AS visitors FROM ${from}
      WHERE ${within} AND ${column} <> '' AND ${condition} GROUP BY 1 ORDER BY 2 DESC LIMIT ${rowsOfList}`
    const withSession =
      'website_event JOIN session ON session.session_id = website_event.session_id AND session.website_id = website_event.website_id'
    const day = `to_char(date_trunc('day', website_event.created_at AT TIME ZONE '${state.zone}'), 'YYYY-MM-DD')`
    const external = "website_event.referrer_domain <> regexp_replace(website_event.hostname, '^www.', '')"
    switch (question.name) {
      case 'overview': {
        const [answer] = await Promise.all([
          rows(five('true'), values),
          rows(five('true'), valuesOf(secondsOf(previous))),
        ])
        return answer
      }
      case 'timeseries': {
        const [visitors, pageviews] = await Promise.all(
          ['count(DISTINCT session_id) AS visitors', 'count(*) AS pageviews'].map((number) =>
            rows(`SELECT ${day} AS value, ${number} FROM website_event WHERE ${within} GROUP BY 1 ORDER BY 1`, values),
          ),
        )
        return new Map(
          [...(visitors ?? [])].map(([value, numbers]) => [value, { ...numbers, ...pageviews?.get(value) }]),
        )
      }
      case 'pages':
        return rows(list('website_event.url_path'), values)
      case 'referrers':
        return rows(list('website_event.referrer_domain', external), values)
      case 'devices':
        return rows(list('session.device', 'true', withSession), values)
      case 'countries':
        return rows(list('session.country', 'true', withSession), values)
      case 'custom events':
        return rows(
          `SELECT event_name AS value, count(*) AS count FROM website_event WHERE website_id = $1::uuid
            AND created_at BETWEEN to_timestamp($2::int) AND to_timestamp($3::int) AND event_type = 2 GROUP BY 1 ORDER BY 2 DESC LIMIT ${rowsOfList}`,
          values,
        )
      case 'UTM sources':
        return rows(list('website_event.utm_source'), values)
      case 'totals of a page':
        return rows(five("url_path = '/pricing'"), values)
      case 'referrers of a page':
        return rows(
          list('website_event.referrer_domain', `website_event.url_path = '/pricing' AND ${external}`),
          values,
        )
      case 'totals of a referrer':
        return rows(five("referrer_domain = 'google.com'"), values)
      case 'pages of a referrer':
        return rows(list('website_event.url_path', "website_event.referrer_domain = 'google.com'"), values)
      case 'countries of a section':
        return rows(list('session.country', "website_event.url_path ILIKE '%/blog%'", withSession), values)
      case 'entry pages of a country': {
        const entries = `(SELECT DISTINCT ON (visit_id) visit_id, url_path FROM website_event WHERE ${within} ORDER BY visit_id, created_at) AS entry`
        return rows(
          list(
            'entry.url_path',
            "session.country = 'DE'",
            `${withSession} JOIN ${entries} ON entry.visit_id = website_event.visit_id`,
          ),
          values,
        )
      }
      case 'channels':
      case 'browsers of a channel':
        return undefined
    }
  }

  return {
    name: 'Umami on PostgreSQL',
    source: 'github.com/umami-software/umami, commit c0ea3aefbe',
    ask: (question) => (isAsked(question) ? (ask(question) as Promise<Answer>) : undefined),
    async bytes() {
      const [row] = await postgres<[{ bytes: string }]>`SELECT pg_database_size(current_database())::text AS bytes`
      return Number(row.bytes)
    },
    writing,
    reasons: umamiReasons,
  }
}

const isAsked = ({ name }: Question): boolean => name !== 'channels' && name !== 'browsers of a channel'
