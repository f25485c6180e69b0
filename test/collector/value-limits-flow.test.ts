// Attacks with invented values, over the whole path: POST /api/event -> spool -> shipper -> ClickHouse -> the statistics API. `(other)`
// counts like any other value, and earlier pages keep their names (decision D-155).
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setHostnames } from '../../src/accounts/sites.ts'
import { reports } from '../../src/stats/reports.ts'
import { instant, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts'
import { custom, pageview } from '../support/events.ts'
import { eventually as eventuallyWithin } from '../support/eventually.ts'
import { redisUrl } from '../support/stores.ts'
import { openWorld, type World } from '../support/world.ts'

const dayMs = 86_400_000
const eventually = (attempt: () => Promise<void>) => eventuallyWithin(attempt, 60_000)
const oldPages = ['/', '/a', '/b', '/c', '/d', '/e', '/f', '/g']

/** A site with pages from three days ago, which allows any subdomain. */
async function openOldWorld(t: TestContext): Promise<World> {
  const world = await openWorld(t)
  const { domain } = world
  await setHostnames(world.stores.postgres, world.siteId, { hostnames: [domain], allowSubdomains: true })
  const at = new Date(Date.now() - 3 * dayMs).toISOString()
  const first = { at, hostname: domain, referrer: 'old.example', utmSource: 'letter' }
  await world.record(
    ...oldPages.map((pathname) => pageview({ ...first, pathname, title: `Old ${pathname}` })),
    custom('Sign up', first),
  )
  return world
}

const startLimited = ({ stores }: World, redis?: string) =>
  startCollectorProcess(
    { postgres: stores.addresses.postgres, clickhouse: stores.addresses.clickhouse, ...(redis && { redis }) },
    { main: new URL('limited-collector.ts', import.meta.url) },
  )

const send = async (collector: CollectorProcess, visitor: number, event: object, ...ignored: string[]) => {
  const answer = await collector.post(event, { 'X-Forwarded-For': `10.0.${visitor >> 8}.${visitor & 255}` }, '?debug=1')
  const more = ignored.length > 0 ? { ignored: [{ index: 0, fields: ignored }] } : {}
  const { ids: _, ...outcome } = (await answer.json()) as { ids: string[] }
  assert.deepEqual(outcome, { accepted: 1, dropped: [], ...more })
}

/** Ten views of the first old page make the site busy enough to be limited. */
async function makeBusy(collector: CollectorProcess, domain: string): Promise<void> {
  for (let visitor = 200; visitor < 210; visitor++) {
    await send(collector, visitor, { n: 'pageview', u: `https://${domain}/`, d: domain })
  }
  // Until the old values are read, it knows two: the page and the host.
  await eventually(async () => assert.ok((await collector.metric('footfall_values_remembered')) > 5))
}

const attackers = 30

/** Every visitor sends its own page, host, referrer, source and event, in one session. */
async function attack(collector: CollectorProcess, domain: string, from = 0): Promise<void> {
  for (let number = from; number < from + attackers; number++) {
    const u = `https://host-${number}.${domain}/attack-${number}?utm_source=source-${number}`
    const common = { u, d: domain, t: 'Attack' }
    await send(collector, number, { ...common, n: 'pageview', r: `https://referrer-${number}.example/` })
    await send(collector, number, { ...common, n: `Event ${number}`, r: `https://again-${number}.example/` })
  }
}

/** Without those of three days ago. */
const recentEventsOf = async (world: World) => {
  const [row] = await world.stores.clickhouse.rows<{ events: number }>(
    sql`SELECT count() AS events FROM events WHERE site_id = ${text(world.siteId)} AND time > ${instant(Date.now() - dayMs)}`,
  )
  return row?.events ?? 0
}

/** Sessions whose events have different origins. */
const tornSessions = async (world: World) =>
  world.stores.clickhouse.rows(sql`
    SELECT session_id FROM events WHERE site_id = ${text(world.siteId)}
    GROUP BY session_id HAVING uniqExact(referrer, utm_source, channel) > 1`)

test('values of an attack become (other), earlier values keep their names, and everything adds up', async (t) => {
  const world = await openOldWorld(t)
  const { domain } = world
  const collector = await startLimited(world)
  t.after(() => collector.stop())
  await makeBusy(collector, domain)
  await attack(collector, domain)
  // Normal visitors afterwards: one on earlier pages, one from a search engine that is new here.
  await send(collector, 220, {
    n: 'pageview',
    u: `https://${domain}/b?utm_source=letter`,
    d: domain,
    r: 'http://old.example',
  })
  await send(collector, 220, { n: 'Sign up', u: `https://${domain}/b`, d: domain })
  await send(collector, 221, { n: 'pageview', u: `https://${domain}/c`, d: domain, r: 'https://www.google.com/' })
  // 10 to become busy, 2 per attacker, and 3 normal ones.
  await eventually(async () => assert.equal(await recentEventsOf(world), 10 + 2 * attackers + 3))

  const today = new Date().toISOString().slice(0, 10)
  world.setNow(new Date(Date.now() + dayMs).toISOString())
  const asked = { range: 'custom', start: today, end: today, limit: '100' }
  const { limit: _, ...whole } = asked
  const kept = (count: number, name: (number: number) => string) => Array.from({ length: count }, (_, n) => name(n))
  assert.deepEqual(await world.data('/stats/pages', asked), [
    { pathname: '(other)', title: '', views: attackers - 5, visitors: attackers - 5 },
    { pathname: '/', title: 'Old /', views: 10, visitors: 10 },
    ...kept(5, (n) => `/attack-${n}`).map((pathname) => ({ pathname, title: 'Attack', views: 1, visitors: 1 })),
    { pathname: '/b', title: 'Old /b', views: 1, visitors: 1 },
    { pathname: '/c', title: 'Old /c', views: 1, visitors: 1 },
  ])
  assert.deepEqual(await world.data('/stats/referrers', asked), [
    { referrer: '(other)', views: attackers - 3 + 1, visitors: attackers - 3 + 1 },
    { referrer: 'old.example', views: 1, visitors: 1 },
    ...kept(3, (n) => `referrer-${n}.example`).map((referrer) => ({ referrer, views: 1, visitors: 1 })),
  ])
  assert.deepEqual(await world.data('/stats/utm', asked), [
    { name: '(other)', visitors: attackers - 2 },
    { name: 'letter', visitors: 1 },
    { name: 'source-0', visitors: 1 },
    { name: 'source-1', visitors: 1 },
  ])
  assert.deepEqual(await world.data('/stats/events', asked), [
    { name: '(other)', count: attackers - 2, visitors: attackers - 2 },
    { name: 'Event 0', count: 1, visitors: 1 },
    { name: 'Event 1', count: 1, visitors: 1 },
    { name: 'Sign up', count: 1, visitors: 1 },
  ])
  // The search engine lost its name, but the channel is still search.
  const channels = await world.data('/stats/channels', whole)
  assert.deepEqual(
    channels.map(({ channel, visitors }: { channel: string; visitors: number }) => [channel, visitors]),
    [
      ['Referral', attackers + 1],
      ['Direct', 10],
      ['Organic Search', 1],
    ],
  )
  const { current } = await world.data('/stats/overview', whole)
  const people = attackers + 10 + 2
  assert.deepEqual([current.visitors, current.pageviews, current.sessions], [people, people, people])
  for (const list of ['geo', 'devices']) {
    const rows = (await world.data(`/stats/${list}`, asked)) as { visitors: number }[]
    assert.equal(
      rows.reduce((sum, { visitors }) => sum + visitors, 0),
      people,
    )
  }
  assert.equal((await world.data('/stats/overview', { ...whole, hostname: `host-0.${domain}` })).current.visitors, 1)
  assert.equal((await world.data('/stats/overview', { ...whole, hostname: `host-1.${domain}` })).current.visitors, 0)
  assert.deepEqual(await tornSessions(world), [])
  for (const [value, count] of Object.entries({
    path: 2 * (attackers - 5),
    referrer: attackers - 3 + 1,
    source: attackers - 2,
  })) {
    assert.equal(await collector.metric(`footfall_values_replaced_total{value="${value}"}`), count, value)
  }

  const answers = async () => {
    const all = new Map<string, unknown>()
    for (const filter of [{}, { utm_source: '(other)' }, { device: 'desktop' }, { hostname: domain }]) {
      for (const name of Object.keys(reports)) {
        all.set(`${name} ${JSON.stringify(filter)}`, await world.data(`/stats/${name}`, { ...whole, ...filter }))
      }
    }
    return all
  }
  const raw = await answers()
  await world.rollUp(today)
  assert.deepEqual(await answers(), raw)
})

test('keys, values and tags of an attack are limited, and those of the last days keep their names, also after a restart', async (t) => {
  const world = await openWorld(t)
  const { domain } = world
  const tags = ['medium', 'campaign', 'content', 'term'] as const
  const tagged = (value: string) =>
    Object.fromEntries(tags.map((tag) => [tag, value])) as Record<(typeof tags)[number], string>
  const at = new Date(Date.now() - 3 * dayMs).toISOString()
  const old = { at, hostname: domain, campaign: tagged('spring') }
  await world.record(
    ...oldPages.map((pathname) => pageview({ ...old, pathname })),
    pageview({ ...old, props: { plan: 'old' } }),
  )
  /** A visit of its own to the first page. */
  const view = (tag: string, props: Record<string, string>) => ({
    ...{ n: 'pageview', d: domain, props },
    u: `https://${domain}/?${tags.map((name) => `utm_${name}=${tag}`).join('&')}`,
  })
  const rows = () =>
    world.stores.clickhouse.rows<{ props: Record<string, string>; tags: string[] }>(sql`
      SELECT props, [utm_medium, utm_campaign, utm_content, utm_term] AS tags FROM events
      WHERE site_id = ${text(world.siteId)} AND time > ${instant(Date.now() - dayMs)} AND notEmpty(props) ORDER BY time`)
  const row = (tag: string, props: Record<string, string>) => ({ props, tags: tags.map(() => tag) })

  const first = await startLimited(world)
  t.after(() => first.stop())
  await makeBusy(first, domain)
  // The site may have two keys, and `plan` is one of them. It may add three values of properties and two values of each tag.
  await send(first, 1, view('tag-1', { plan: 'plan-1', 'key-1': 'x' }))
  await send(first, 2, view('tag-2', { plan: 'plan-2', 'key-2': 'x' }), 'props.key-2')
  await send(first, 3, view('tag-3', { plan: 'plan-3', 'key-3': 'x', 'key-1': 'y' }), 'props.key-3')
  await send(first, 4, view('spring', { plan: 'old', 'key-1': 'x' }))
  const recorded = [
    row('tag-1', { plan: 'plan-1', 'key-1': 'x' }),
    row('tag-2', { plan: 'plan-2' }),
    row('(other)', { plan: '(other)', 'key-1': '(other)' }),
    row('spring', { plan: 'old', 'key-1': 'x' }),
  ]
  await eventually(async () => assert.deepEqual(await rows(), recorded))
  const replaced = { property_key: 2, property: 2, medium: 1, campaign: 1, content: 1, term: 1 }
  for (const [value, count] of Object.entries(replaced)) {
    assert.equal(await first.metric(`footfall_values_replaced_total{value="${value}"}`), count, value)
  }
  await first.stop()

  const second = await startLimited(world)
  t.after(() => second.stop())
  await makeBusy(second, domain)
  await send(second, 5, view('tag-2', { plan: 'plan-2', 'key-1': 'x', 'key-5': 'x' }), 'props.key-5')
  await send(second, 6, view('spring', { plan: 'old' }))
  await send(second, 7, view('tag-7', { plan: 'plan-7' }))
  recorded.push(
    row('tag-2', { plan: 'plan-2', 'key-1': 'x' }),
    row('spring', { plan: 'old' }),
    row('(other)', { plan: '(other)' }),
  )
  await eventually(async () => assert.deepEqual(await rows(), recorded))
})

test('properties count as events for the start of the limits', async (t) => {
  const world = await openWorld(t)
  const { domain } = world
  const collector = await startLimited(world)
  t.after(() => collector.stop())
  const page = { n: 'pageview', u: `https://${domain}/`, d: domain }
  const keys = (count: number) => Array.from({ length: count }, (_, key) => [`key-${key}`, 'x'])
  // With its eight properties it counts as nine events; the limits begin at ten.
  await send(collector, 1, { ...page, props: Object.fromEntries(keys(8)) })
  assert.equal(await collector.metric('footfall_values_remembered'), 0)
  // Twice the limit of two keys until the earlier values are read.
  const answer = await collector.post({ ...page, props: Object.fromEntries(keys(8)) }, {}, '?debug=1')
  const { ignored } = (await answer.json()) as { ignored: { fields: string[] }[] }
  assert.deepEqual(ignored[0]?.fields, ['props.key-4', 'props.key-5', 'props.key-6', 'props.key-7'])
})

test('two collectors: a session keeps its origin, and each collector counts new values for itself', async (t) => {
  const world = await openOldWorld(t)
  const { domain } = world
  const collectors = [await startLimited(world, redisUrl), await startLimited(world, redisUrl)] as const
  t.after(() => Promise.all(collectors.map((collector) => collector.stop())))
  const [one, two] = collectors
  await makeBusy(one, domain)
  await attack(one, domain)
  // The same visitors at the other collector, which limits nothing yet and would keep their referrers.
  const view = (number: number) => ({
    n: 'pageview',
    u: `https://${domain}/a`,
    d: domain,
    r: `https://late-${number}.example`,
  })
  for (let number = 0; number < 9; number++) await send(two, number, view(number))
  await eventually(async () => assert.equal(await recentEventsOf(world), 10 + 2 * attackers + 9))
  assert.deepEqual(await tornSessions(world), [])
  await makeBusy(two, domain)
  await attack(two, domain, 100)
  await eventually(async () => assert.equal(await recentEventsOf(world), 20 + 4 * attackers + 9))
  const referrers = (await world.data('/stats/referrers', { range: '24h', limit: '100' })) as { referrer: string }[]
  // The second collector has read what the first one recorded today, and that counts: nothing new is allowed.
  assert.deepEqual(
    referrers.map(({ referrer }) => referrer),
    ['(other)', 'referrer-0.example', 'referrer-1.example', 'referrer-2.example'],
  )
  assert.deepEqual(await tornSessions(world), [])
})
