// Each response carries all the headers of its status and no others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newKeyText } from '../../src/accounts/key-text.ts'
import { setKeyDisabled } from '../../src/accounts/keys.ts'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { type Answer, openWorld, type World } from '../support/world.ts'
import { apiWithoutClickHouse, apiWithoutPostgres } from './outage.ts'
import { sendRaw } from './raw.ts'
import { as, codeOf, newAccountKey, newSiteKey, noon, rateLimitNames, reportNames, times } from './vocabulary.ts'

const path = '/api/v1/stats/pages'
const counted = rateLimitNames
const data = [...counted, 'etag']

type Test = Parameters<typeof openWorld>[0]

interface Row {
  answer(world: World, t: Test): Promise<Answer>
  status: number
  /** Which of the headers below the response carries. */
  carries: readonly string[]
  cacheControl: string | null
}

/** Each is only on the responses that list it. */
const watched = [...counted, 'retry-after', 'www-authenticate', 'allow', 'etag']

const refusal = (code: string, status: number, carries: readonly string[], answer: Row['answer']): [string, Row] => [
  code,
  { status, carries, answer, cacheControl: 'no-store' },
]

const table = Object.fromEntries<Row>([
  [
    'ok',
    { status: 200, carries: data, cacheControl: 'private, no-cache', answer: (world) => world.get('/stats/pages') },
  ],
  [
    'ok to HEAD',
    {
      status: 200,
      carries: data,
      cacheControl: 'private, no-cache',
      answer: (world) => world.get('/stats/pages', '', { method: 'HEAD' }),
    },
  ],
  [
    'not modified',
    {
      status: 304,
      carries: data,
      cacheControl: 'private, no-cache',
      answer: (world) => world.get('/stats/pages', '', { headers: { 'If-None-Match': '*' } }),
    },
  ],
  [
    'preflight',
    {
      status: 204,
      carries: ['allow'],
      cacheControl: null,
      answer: ({ api }) => api.fetch(path, { method: 'OPTIONS' }),
    },
  ],
  refusal('unauthorized', 401, ['www-authenticate'], ({ api }) => api.fetch(path)),
  refusal('invalid_key', 401, ['www-authenticate'], ({ api }) => api.fetch(path, as(newKeyText('site')))),
  refusal('key_disabled', 401, ['www-authenticate'], async (world) => {
    const key = await newSiteKey(world)
    await setKeyDisabled(world.stores.postgres, key.id, true)
    return world.get('/stats/pages', '', as(key.text))
  }),
  refusal('key_expired', 401, ['www-authenticate'], async (world) =>
    world.get('/stats/pages', '', as((await newSiteKey(world, new Date('2020-01-01'))).text)),
  ),
  refusal('plan_required', 403, [], async (_world, t) => (await openWorld(t, { plan: 'Free' })).get('/stats/pages')),
  refusal('rate_limit_exceeded', 429, [...counted, 'retry-after'], async (_world, t) => {
    const limiter = memoryLimiter(() => Date.parse(noon))
    const spent = await openWorld(t, { plan: 'Starter', now: noon, limiter })
    await Promise.all(times(1000, () => limiter.spend(spent.key.id, 1000)))
    return spent.get('/stats/pages')
  }),
  refusal('site_required', 400, counted, async (world) =>
    world.get('/stats/pages', '', as((await newAccountKey(world)).text)),
  ),
  refusal('forbidden', 403, counted, (world) => world.get('/stats/pages', 'site_id=x')),
  refusal('unsupported_filter', 400, counted, (world) => world.get('/stats/pages', 'os=Linux')),
  refusal('invalid_parameter', 400, counted, (world) => world.get('/stats/pages', 'limit=0')),
  refusal('invalid_date', 400, counted, (world) => world.get('/stats/pages', 'range=custom')),
  refusal('not_found', 404, [], (world) => world.get('/stats/nope')),
  refusal('method_not_allowed', 405, ['allow'], (world) => world.get('/stats/pages', '', { method: 'DELETE' })),
  refusal('internal_error after the count', 500, [...counted, 'retry-after'], async ({ key }, t) =>
    (await apiWithoutClickHouse(t)).fetch(path, as(key.text)),
  ),
  refusal('internal_error before the count', 500, ['retry-after'], async ({ key }, t) =>
    (await apiWithoutPostgres(t)).fetch(path, as(key.text)),
  ),
  refusal('a request that cannot be parsed', 400, [], ({ api }) => sendRaw(api.port, 'hello\r\n\r\n')),
])

for (const [name, { answer, status, carries, cacheControl }] of Object.entries(table))
  test(`${status} ${name} carries its headers and no others`, async (t) => {
    const world = await openWorld(t, { now: noon })
    const { headers, ...rest } = await answer(world, t)
    assert.equal(rest.status, status)
    assert.deepEqual(
      watched.filter((header) => headers.has(header)),
      watched.filter((header) => carries.includes(header)),
    )
    assert.equal(headers.get('cache-control'), cacheControl)
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.equal(headers.get('access-control-allow-credentials'), null)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('x-request-id') ?? '', /^[\w-]{8,}$/)
    assert.ok(headers.get('access-control-expose-headers'))
    if (carries.includes('www-authenticate')) assert.match(headers.get('www-authenticate') ?? '', /^Bearer\b/)
    if (carries.includes('etag')) assert.equal(headers.get('vary'), 'Authorization, Accept, Accept-Encoding')
    if (carries.includes('retry-after')) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    if (status >= 400) for (const header of ['stats-period', 'stats-previous-period']) assert.ok(!headers.has(header))
  })

/** Headers that browsers always show to scripts, or that concern only the transport or the browser. */
const needNotBeExposed = [
  ...[
    'cache-control',
    'content-encoding',
    'content-language',
    'content-length',
    'content-type',
    'expires',
    'last-modified',
    'pragma',
  ],
  ...['connection', 'date', 'keep-alive', 'transfer-encoding', 'vary', 'x-content-type-options'],
  ...['allow', 'www-authenticate'],
]

test('every header meant for clients is exposed to browsers', async (t) => {
  const world = await openWorld(t, { now: noon })
  const required = [...counted, 'retry-after', 'x-request-id', 'etag']
  required.push('stats-period', 'stats-previous-period', 'stats-total-rows', 'stats-warning')
  for (const { answer } of Object.values(table)) {
    const { headers } = await answer(world, t)
    const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/, */)
    const sent = [...headers.keys()].filter((name) => !name.startsWith('access-control-'))
    assert.deepEqual(
      [...required, ...sent].filter((name) => !exposed.includes(name) && !needNotBeExposed.includes(name)),
      [],
    )
  }
})

test('every response has its own request id, even when the client sends one', async (t) => {
  const world = await openWorld(t, { now: noon })
  const ids = await Promise.all(
    reportNames.flatMap((name) =>
      ['', 'limit=0'].map(async (query) => {
        const answer = await world.get(`/stats/${name}`, query, { headers: { 'X-Request-Id': 'mine' } })
        return answer.headers.get('x-request-id')
      }),
    ),
  )
  assert.equal(new Set(ids).size, 2 * reportNames.length)
  assert.ok(!ids.includes('mine'))
})

test('any origin can read a response: no credentials, no list of origins', async (t) => {
  const world = await openWorld(t, { now: noon })
  const answer = await world.get('/stats/pages', '', { headers: { Origin: 'https://dashboard.example' } })
  assert.equal(codeOf(answer), 'ok')
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
})
