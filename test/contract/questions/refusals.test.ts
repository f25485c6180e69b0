// What /api/v2 refuses, and in which words.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createKey, setKeyDisabled } from '../../../src/accounts/keys.ts'
import { memoryLimiter } from '../../../src/api/rate-limit.ts'
import { questionKinds } from '../../../src/stats/questions/question.ts'
import { pageview } from '../../support/events.ts'
import { keySecrets } from '../../support/stores.ts'
import { openWorld } from '../../support/world.ts'
import { as, foreignSite, newAccountKey, noon, rateLimitOf, refused } from '../vocabulary.ts'

const required = { totals: '', timeseries: '', breakdown: 'by=page&' }

const open = (t: TestContext) => openWorld(t, { now: noon, limiter: memoryLimiter(() => Date.parse(noon)) })

test('the gate of v1 stands before every question, with its headers', async (t) => {
  const world = await open(t)
  const account = await newAccountKey(world)
  const disabled = await createKey(world.stores.postgres, keySecrets, { accountId: world.accountId, name: 'Off' })
  await setKeyDisabled(world.stores.postgres, disabled.id, true)
  for (const kind of questionKinds) {
    const ask = (query: string, init?: RequestInit) => world.ask(kind, required[kind] + query, init)
    const answered = await ask('range=7d')
    assert.equal(answered.status, 200, answered.text)
    assert.ok(rateLimitOf(answered))
    refused(await world.api.fetch(`/api/v2/stats/${kind}`), 401, 'unauthorized')
    refused(await ask('', as('ff_s_wrong')), 401, 'invalid_key')
    refused(await ask('', as(disabled.text)), 401, 'key_disabled')
    refused(await ask('', as(account.text)), 400, 'site_required')
    const foreign = await ask(`site_id=${await foreignSite(world.stores)}`, as(account.text))
    refused(foreign, 403, 'forbidden')
    assert.ok(rateLimitOf(foreign))
    refused(await world.api.fetch(`/api/v2/stats/${kind}`, { method: 'POST' }), 405, 'method_not_allowed')
    const again = await ask('range=7d', { headers: { 'If-None-Match': answered.headers.get('etag') ?? '' } })
    assert.equal(again.status, 304)
  }
  await world.changePlan('Free')
  refused(await world.ask('totals'), 403, 'plan_required')
})

const wrong: readonly (readonly [query: string, code: string, says: RegExp])[] = [
  ['range=8d', 'invalid_parameter', /range/],
  ['range=7d&range=7d', 'invalid_parameter', /range/],
  ['Metrics=visitors', 'invalid_parameter', /metrics=/],
  ['metrics=', 'invalid_parameter', /metrics/],
  ['metrics=visitor', 'invalid_parameter', /visitors, pageviews/],
  ['metrics=visitors,visitors', 'invalid_parameter', /only once/],
  ['metrics=revenue:eur', 'invalid_parameter', /revenue:<currency>/],
  ['metrics=conversions', 'invalid_parameter', /need goal/],
  ['metrics=conversions&goal=None', 'invalid_parameter', /no goal of this name/],
  ['compare=last', 'invalid_parameter', /compare must be previous, year/],
  ['compare=2026-02-30/2026-03-01', 'invalid_parameter', /compare must be/],
  ['compare=2026-03-02/2026-03-01', 'invalid_parameter', /must not be after/],
  ['compare=2026-03-01/2026-03-02&match=weekday', 'invalid_parameter', /match has no meaning/],
  ['match=day&compare=year', 'invalid_parameter', /match must be weekday/],
  ['country=DE', 'invalid_parameter', /filter=country:is:/],
  ['browser=Firefox', 'invalid_parameter', /filter=browser:is:/],
  ['Country=DE', 'invalid_parameter', /filter=country:is:/],
  ['os[]=Linux', 'invalid_parameter', /filter=os:is:/],
  ['filter=page', 'invalid_filter', /"page" must be written as dimension:operator:value/],
  ['filter=path:is:/', 'invalid_filter', /"path" is not one of page, hostname/],
  ['filter=page:equals:/', 'invalid_filter', /"equals" is not one of is, is_not/],
  ['filter=page:contains:', 'invalid_filter', /contains of page needs a value/],
  ['filter=goal:is:None', 'invalid_filter', /no goal of this name/],
  ['filter=goal:contains:S', 'invalid_filter', /goal takes is and is_not only/],
  ['filter=event:is:,a', 'invalid_filter', /stands alone/],
  ['filter=country:is:UK', 'invalid_filter', /country/],
  ['filter=device:is:phone', 'invalid_filter', /desktop, mobile, tablet/],
  ['filter=hostname:is:https://a.example', 'invalid_filter', /host/],
  ['filter=page:is:a\\b', 'invalid_filter', /backslash/],
  ['filter=page:is:%00', 'invalid_filter', /control characters/],
  ['filter=page:is:%FF', 'invalid_filter', /UTF-8/],
  [Array(9).fill('filter=page:is:/').join('&'), 'invalid_filter', /At most 8/],
  [`filter=page:is:${Array(101).fill('a').join(',')}`, 'invalid_filter', /at most 100/],
  [`filter=page:is:${'a'.repeat(6_200)}`, 'invalid_parameter', /6144 characters/],
  ['range=custom&start=2026-13-01&end=2026-01-01', 'invalid_date', /start/],
  ['filter=page:is:/a&range=custom&start=2026-01-01', 'invalid_date', /end/],
]

test('a fault of a parameter or filter is refused, and the message says what is allowed', async (t) => {
  const world = await open(t)
  for (const kind of questionKinds)
    for (const [query, code, says] of wrong) {
      const answer = await world.ask(kind, required[kind] + query)
      refused(answer, 400, code)
      assert.match(answer.json.error.message, says, query)
    }
  const own: readonly (readonly [kind: string, query: string, says: RegExp])[] = [
    ['breakdown', '', /by is missing/],
    ['breakdown', 'by=path', /by must be one of page/],
    ['breakdown', 'by=page&limit=1001', /limit/],
    ['breakdown', 'by=page&order=sessions', /order must be one of metrics/],
    ['breakdown', 'by=page&cursor=abc', /cursor must be a next_cursor/],
    ['timeseries', 'interval=minute', /interval must be one of hour/],
    ['timeseries', 'interval=hour&range=90d', /at most 31 days/],
  ]
  for (const [kind, query, says] of own) {
    const answer = await world.ask(kind, query)
    refused(answer, 400, 'invalid_parameter')
    assert.match(answer.json.error.message, says, query)
  }
})

test('what has no effect is said', async (t) => {
  const world = await open(t)
  const warnings = async (kind: string, query: string) => (await world.ask(kind, query)).headers.get('stats-warning')
  assert.match((await warnings('totals', 'interval=day&speed=1')) ?? '', /speed was ignored; interval has no effect/)
  assert.match((await warnings('totals', 'match=weekday')) ?? '', /match has no effect without compare/)
  assert.equal(await warnings('timeseries', 'interval=week'), null)
})

test('a question about more traffic than a request has time for is refused before it runs', async (t) => {
  const world = await open(t)
  await world.record(pageview({ at: '2026-11-10T10:00:00Z', pathname: '/a' }))
  await world.rollUp('2026-11-14')
  const query = 'range=30d&filter=page:is:/a'
  assert.equal((await world.ask('totals', query)).json.data.pageviews, 1)
  // The rollups of a site with 150 million pageviews on that day.
  await world.stores.clickhouse.command(`
    INSERT INTO short_rollups SELECT * REPLACE (toInt64(150000000) AS views) FROM short_rollups WHERE site_id = '${world.siteId}' AND short_rollups.views > 0`)
  const says = async (kind: string, parameters: string) => {
    const answer = await world.ask(kind, parameters)
    refused(answer, 400, 'query_too_expensive')
    return answer.json.error.message
  }
  assert.match(
    await says('totals', query),
    /reads 4\.1 times the traffic.* ask for fewer days, or leave out what is about pages/,
  )
  assert.match(
    await says('totals', `${query}&compare=previous`),
    /ask for fewer days, or leave out the comparison, or leave out what/,
  )
  assert.match(await says('breakdown', 'range=30d&by=page&filter=browser:is:Firefox'), /reads 8\.3 times/)
  assert.match(await says('totals', 'range=30d&filter=prop:plan:is:pro'), /reads 16\.5 times.* leave out properties/)
  // Sessions without their hits are read five times as fast.
  assert.equal((await world.ask('totals', 'range=30d&filter=browser:is:Firefox')).status, 200)
  assert.match(await says('totals', 'range=30d&filter=entry_page:is:/a'), /reads 1\.4 times/)
  // Other days, and what rollups answer.
  assert.equal(
    (await world.ask('totals', 'range=custom&start=2026-11-11&end=2026-11-14&filter=page:is:/a')).status,
    200,
  )
  assert.equal((await world.ask('totals', 'range=30d')).headers.get('stats-source'), 'rollups')
})
