// Every refusal of the API as an error with its code, and responses that are not the API's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setKeyDisabled } from '../../src/accounts/keys.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { errors } from '../../src/errors.ts'
import { apiWithoutClickHouse } from '../contract/outage.ts'
import { foreignSite, newAccountKey, newSiteKey, noon, times } from '../contract/vocabulary.ts'
import { openWorld } from '../support/world.ts'
import { addressOf, type Call, runners, serve, serverOf } from './runners.ts'

for (const [where, open] of Object.entries(runners)) {
  test(`${where}: every code of the API becomes an error with code, status, message, request id and rate limit`, async (t) => {
    const run = await open(t)
    const limiter = memoryLimiter(() => Date.parse(noon))
    const world = await openWorld(t, { plan: 'Starter', now: noon, limiter })
    const { stores } = world
    const server = serverOf(world)
    const [disabled, spent, account] = [await newSiteKey(world), await newSiteKey(world), await newAccountKey(world)]
    const expired = await newSiteKey(world, new Date('2026-11-15T11:59:59Z'))
    await setKeyDisabled(stores.postgres, disabled.id, true)
    await Promise.all(times(1000, () => limiter.spend(spent.id, 1000)))
    const down = await apiWithoutClickHouse(t)
    // The client sends only GET: a proxy in front of the API changes the method.
    const posting = await serve(t, async (request, response) => {
      const answer = await fetch(`${server.url}${request.url}`, { method: 'POST' })
      response.writeHead(answer.status, { 'X-Request-Id': answer.headers.get('x-request-id') ?? '' })
      response.end(await answer.text())
    })

    type OfQuestions = 'invalid_filter' | 'range_not_kept' | 'query_too_expensive' | 'too_many_streams'
    const refused: Record<Exclude<keyof typeof errors, OfQuestions>, Omit<Call, 'name'>> = {
      unauthorized: { server: { ...server, key: undefined } },
      invalid_key: { server: { ...server, key: 'nonsense' } },
      key_disabled: { server: { ...server, key: disabled.text } },
      key_expired: { server: { ...server, key: expired.text } },
      plan_required: { server: serverOf(await openWorld(t, { plan: 'Free' })) },
      rate_limit_exceeded: { server: { ...server, key: spent.text } },
      site_required: { server: { ...server, key: account.text } },
      forbidden: { server, parameters: { site_id: await foreignSite(stores) } },
      unsupported_filter: { server, parameters: { browser: 'Firefox' } },
      invalid_parameter: { server, parameters: { limit: 0 } },
      invalid_date: { server, parameters: { range: 'custom', start: '2026-01-01', end: '2026-13-01' } },
      not_found: { server: { ...server, url: `${server.url}/elsewhere` } },
      method_not_allowed: { server: { ...server, url: posting } },
      internal_error: { server: { ...server, url: addressOf(down) } },
    }
    for (const [code, call] of Object.entries(refused)) {
      const { thrown } = await run({ ...call, name: 'pages' })
      const { status, message } = errors[code as keyof typeof errors]
      assert.deepEqual(
        [thrown?.code, thrown?.status, thrown?.name, thrown?.isFootfallError],
        [code, status, 'FootfallError', true],
        JSON.stringify(thrown),
      )
      if (call.parameters === undefined) assert.equal(thrown?.message, message)
      assert.match(thrown?.requestId ?? '', /^[0-9a-f-]{36}$/, code)
      const isCounted = /rate|site_|forbidden|filter|invalid_[pd]|internal/.test(code)
      assert.equal(typeof thrown?.rateLimit?.remaining, isCounted ? 'number' : 'undefined', code)
      const retryAfter = { rate_limit_exceeded: 3600, internal_error: 1 }[code]
      assert.equal(thrown?.retryAfter, retryAfter, code)
    }
    const { thrown } = await run({ ...refused.rate_limit_exceeded, name: 'pages' })
    assert.deepEqual(thrown?.rateLimit, { limit: 1000, remaining: 0, reset: new Date('2026-11-15T13:00:00Z') })
  })

  test(`${where}: a response that is not the API's is an error too, whatever its status`, async (t) => {
    const run = await open(t)
    let status = 200
    let text = ''
    const url = await serve(t, (_request, response) => response.writeHead(status).end(text))
    for (const [answered, body] of [
      [502, '<h1>Bad gateway</h1>'],
      [200, '<h1>Sign in to this network</h1>'],
      [200, '{}'],
      [200, 'null'],
      [500, '{"error":"no"}'],
      [404, ''],
    ] as const) {
      status = answered
      text = body
      const { thrown } = await run({ server: { url, key: 'any' }, name: 'pages' })
      assert.deepEqual(
        [thrown?.code, thrown?.status, thrown?.isFootfallError, thrown?.requestId, thrown?.rateLimit],
        ['unexpected_response', answered, true, undefined, undefined],
        body,
      )
    }
  })

  test(`${where}: a server that cannot be reached throws the error of fetch`, async (t) => {
    const run = await open(t)
    const { thrown } = await run({ server: { url: 'http://127.0.0.1:1', key: 'any' }, name: 'pages' })
    assert.deepEqual([thrown?.name, thrown?.isFootfallError], ['TypeError', false])
  })
}
