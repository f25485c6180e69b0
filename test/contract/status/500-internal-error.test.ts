// Its own stores: a change by another test empties the cache that these tests rely on.
import '../../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newKeyText } from '../../../src/accounts/key-text.ts'
import { openWorld } from '../../support/world.ts'
import { apiBehindProxy, apiWithoutClickHouse, apiWithoutPostgres } from '../outage.ts'
import { as, newAccountKey, rateLimitOf, refused, reportNames } from '../vocabulary.ts'

const inside = /secret|127\.0\.0\.1|ECONN|clickhouse|postgres|password|stack|node_modules|\.ts/i

test('without ClickHouse every report returns 500, counts the request, and reveals nothing internal', async (t) => {
  const api = await apiWithoutClickHouse(t)
  const { key } = await openWorld(t)
  const left: (number | undefined)[] = []
  for (const name of reportNames) {
    const answer = await api.fetch(`/api/v1/stats/${name}`, as(key.text))
    refused(answer, 500, 'internal_error')
    assert.doesNotMatch(answer.text + JSON.stringify([...answer.headers]), inside)
    assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    left.push(rateLimitOf(answer)?.remaining)
  }
  assert.deepEqual(
    left,
    reportNames.map((_, index) => 4999 - index),
  )
})

test('without ClickHouse a faulty request still gets its own error first', async (t) => {
  const api = await apiWithoutClickHouse(t)
  const { key } = await openWorld(t)
  refused(await api.fetch('/api/v1/stats/pages?limit=0', as(key.text)), 400, 'invalid_parameter')
  refused(await api.fetch('/api/v1/stats/pages', as('nonsense')), 401, 'invalid_key')
})

test('a failure is logged once with the request id and without the key', async (t) => {
  const lines: string[] = []
  const api = await apiWithoutClickHouse(t, { log: { write: (line) => void lines.push(line) } })
  const { key } = await openWorld(t)
  const answer = await api.fetch('/api/v1/stats/overview', as(key.text))
  const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50)
  assert.deepEqual(
    errors.map(({ requestId }) => requestId),
    [answer.headers.get('x-request-id')],
  )
  assert.ok(!lines.join('').includes(key.text))
})

test('while PostgreSQL is down, a well-formed key gets 500 without rate limit headers, never 401', async (t) => {
  const api = await apiWithoutPostgres(t)
  const { key } = await openWorld(t)
  for (const text of [key.text, newKeyText('site'), newKeyText('account')]) {
    const answer = await api.fetch('/api/v1/stats/overview', as(text))
    refused(answer, 500, 'internal_error')
    assert.equal(rateLimitOf(answer), undefined)
    assert.equal(answer.headers.get('www-authenticate'), null)
    assert.doesNotMatch(answer.text + JSON.stringify([...answer.headers]), inside)
  }
})

/** When a new process reads the change counter for the first time, it empties its cache. */
const started = () => new Promise((resolve) => setTimeout(resolve, 1_500))

test('exclusions fail closed: a known key whose site cannot be read gets 500, and the request counts', async (t) => {
  const { api, cut } = await apiBehindProxy(t)
  const world = await openWorld(t)
  const key = await newAccountKey(world)
  await started()
  refused(await api.fetch('/api/v1/stats/overview', as(key.text)), 400, 'site_required') // now the key is known, but not the site
  cut()
  const answer = await api.fetch(`/api/v1/stats/overview?site_id=${world.siteId}`, as(key.text))
  refused(answer, 500, 'internal_error')
  assert.equal(rateLimitOf(answer)?.remaining, 4998)
})

test('a known key and site stay usable while PostgreSQL is down', async (t) => {
  const { api, cut } = await apiBehindProxy(t)
  const { key } = await openWorld(t)
  await started()
  assert.equal((await api.fetch('/api/v1/stats/overview', as(key.text))).status, 200)
  cut()
  assert.equal((await api.fetch('/api/v1/stats/pages', as(key.text))).status, 200)
})
