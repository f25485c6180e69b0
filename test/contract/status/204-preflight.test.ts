import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { rateLimitOf, reportNames } from '../vocabulary.ts'

const asBrowser = {
  method: 'OPTIONS',
  headers: {
    Origin: 'https://dashboard.example',
    'Access-Control-Request-Method': 'GET',
    'Access-Control-Request-Headers': 'authorization',
  },
}

test('a preflight needs no key and is allowed on every endpoint', async (t) => {
  const { api } = await openWorld(t)
  for (const name of reportNames) {
    const answer = await api.fetch(`/api/v1/stats/${name}`, asBrowser)
    assert.equal(answer.status, 204)
    assert.equal(answer.text, '')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.match(answer.headers.get('access-control-allow-methods') ?? '', /\bGET\b/)
  }
})

test('a preflight names Authorization in Allow-Headers, because * does not cover it', async (t) => {
  const { api } = await openWorld(t)
  const answer = await api.fetch('/api/v1/stats/overview', asBrowser)
  const allowed = answer.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */)
  assert.ok(allowed?.includes('authorization'))
})

test('a preflight allows every requested header, plus Authorization and If-None-Match, for a day', async (t) => {
  const { api } = await openWorld(t)
  const allowed = async (asked?: string) => {
    const headers = { ...asBrowser.headers, 'Access-Control-Request-Headers': asked as string }
    if (asked === undefined) delete (headers as Record<string, string>)['Access-Control-Request-Headers']
    const answer = await api.fetch('/api/v1/stats/overview', { method: 'OPTIONS', headers })
    assert.equal(answer.headers.get('access-control-max-age'), '86400')
    return answer.headers.get('access-control-allow-headers')
  }
  const always = 'Authorization, If-None-Match'
  assert.equal(await allowed(), always)
  assert.equal(await allowed('authorization'), always)
  assert.equal(
    await allowed('authorization,cache-control,content-type,traceparent,x-requested-with'),
    `${always}, cache-control, content-type, traceparent, x-requested-with`,
  )
  assert.equal(await allowed('x-a , IF-NONE-MATCH\t,x_b'), `${always}, x-a, x_b`)
  // Not a list of header names, so none of it is echoed.
  for (const asked of ['a b', 'a,', ',a', 'a,,b', 'a:b', '"a"', '<script>', 'a;b', '*/*', 'é'])
    assert.equal(await allowed(asked), always, asked)
})

test('OPTIONS returns 204 on any path, with any parameters and any key', async (t) => {
  const { api } = await openWorld(t)
  for (const path of ['/', '/api/v1', '/api/v1/stats/nope', '/api/v1/stats/pages?limit=0&browser=x']) {
    const answer = await api.fetch(path, { method: 'OPTIONS', headers: { Authorization: 'Bearer nonsense' } })
    assert.equal(answer.status, 204, path)
  }
})

test('a preflight is not counted and carries no rate limit headers', async (t) => {
  const world = await openWorld(t)
  const before = rateLimitOf(await world.get('/stats/overview'))?.remaining as number
  assert.equal(rateLimitOf(await world.get('/stats/overview', '', { method: 'OPTIONS' })), undefined)
  assert.equal(rateLimitOf(await world.get('/stats/overview'))?.remaining, before - 1)
})
