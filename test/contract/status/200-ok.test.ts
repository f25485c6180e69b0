import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { limitedReports, noon, rateLimitOf, reportNames } from '../vocabulary.ts'

test('every report returns 200 with data and meta, and meta has the fields of the contract and no others', async (t) => {
  const world = await openWorld(t, { now: '2026-11-15T12:00:00.007Z' })
  for (const name of reportNames) {
    const answer = await world.get(`/stats/${name}`)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(Object.keys(answer.json), ['data', 'meta'])
    assert.deepEqual(answer.json.meta, {
      site_id: world.siteId,
      range: '30d',
      ...(limitedReports.includes(name) && { limit: 10 }),
      generated_at: '2026-11-15T12:00:00.007Z',
    })
  }
})

test('meta repeats the requested range, and the limit only where it applies, even when it was sent', async (t) => {
  const world = await openWorld(t, { now: noon })
  for (const name of reportNames) {
    const { json } = await world.get(`/stats/${name}`, 'range=24h&limit=7')
    assert.equal(json.meta.range, '24h')
    assert.equal(json.meta.limit, limitedReports.includes(name) ? 7 : undefined, name)
  }
})

test('generated_at is the current time in UTC with milliseconds, in any site time zone', async (t) => {
  const world = await openWorld(t, { zone: 'Asia/Kathmandu' })
  const before = Date.now()
  const { json } = await world.get('/stats/overview')
  assert.match(json.meta.generated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const at = Date.parse(json.meta.generated_at)
  assert.ok(before <= at && at <= Date.now())
})

test('counts are JSON integers in every report, never strings', async (t) => {
  const world = await openWorld(t, { now: noon })
  const at = '2026-11-14T10:00:00Z'
  await world.record(pageview({ at, referrer: 'a.example', utmSource: 'a' }), custom('signup', { at }))
  const numbers = /(views|visitors|count|sessions|rate|duration|percentage|limit)$/
  let seen = 0
  for (const name of reportNames) {
    const { text } = await world.get(`/stats/${name}`)
    JSON.parse(text, (field, value) => {
      if (!numbers.test(field) || value === null || typeof value === 'object') return value
      seen++
      assert.ok(Number.isSafeInteger(value), `${name}: ${field} is ${JSON.stringify(value)}`)
      return value
    })
  }
  assert.ok(seen > 25)
})

test('HEAD returns the headers of GET, including the length of the body, without the body', async (t) => {
  const world = await openWorld(t, { now: noon })
  for (const name of reportNames) {
    const got = await world.get(`/stats/${name}`)
    const head = await world.get(`/stats/${name}`, '', { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.text, '')
    for (const header of ['content-length', 'content-type', 'etag', 'stats-period', 'cache-control', 'vary'])
      assert.equal(head.headers.get(header), got.headers.get(header), `${name} ${header}`)
  }
})

test('two requests for the same data get the same order and the same bytes', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...'edcba'.split('').map((letter) => pageview({ at: noon.replace('15T', '14T'), pathname: letter })),
  )
  const answers = await Promise.all(Array.from({ length: 5 }, () => world.get('/stats/pages')))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('reference page, openapi.json and health checks need no key and are not counted', async (t) => {
  const world = await openWorld(t)
  const before = rateLimitOf(await world.get('/stats/overview'))?.remaining as number
  for (const path of ['/api/v1/docs', '/api/v1/openapi.json', '/livez', '/readyz']) {
    for (const init of [{}, { headers: { Authorization: `Bearer ${world.key.text}` } }]) {
      const answer = await world.api.fetch(path, init)
      assert.equal(answer.status, 200, path)
      assert.equal(rateLimitOf(answer), undefined)
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    }
  }
  assert.equal(rateLimitOf(await world.get('/stats/overview'))?.remaining, before - 1)
})

test('a site sees its own events and no others', async (t) => {
  const [one, other] = [await openWorld(t, { now: noon }), await openWorld(t, { now: noon })]
  await other.record(pageview({ at: '2026-11-14T10:00:00Z' }))
  assert.deepEqual(await one.data('/stats/pages'), [])
  assert.equal((await other.data('/stats/pages')).length, 1)
})
