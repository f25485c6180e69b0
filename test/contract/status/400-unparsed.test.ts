// Requests that the HTTP parser, or Node before routing, refuses. They are written as bytes because no client would send them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { sendRaw } from '../raw.ts'
import { rateLimitOf, refused } from '../vocabulary.ts'

const path = '/api/v1/stats/overview'

const get = (headers: string[], target = path, version = 'HTTP/1.1') =>
  [`GET ${target} ${version}`, ...headers, 'Connection: close', '', ''].join('\r\n')

/** Where a valid key can be sent, it is, so that only the fault can cause the refusal. */
const requests: Record<string, (authorization: string) => string> = {
  'no request line': () => 'hello\r\n\r\n',
  'an unknown method': () => `FOO ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'another protocol version': (authorization) => get(['Host: a', authorization], path, 'HTTP/3.1'),
  'the preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS handshake on the plain port': () => '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03',
  'both Content-Length and Transfer-Encoding': (authorization) =>
    get(['Host: a', authorization, 'Content-Length: 5', 'Transfer-Encoding: chunked']),
  'two Content-Lengths': (authorization) => get(['Host: a', authorization, 'Content-Length: 1', 'Content-Length: 2']),
  'a header without a colon': (authorization) => get(['Host: a', authorization, 'nonsense']),
  'a header with a space before the colon': (authorization) => get(['Host: a', authorization, 'X-Test : 1']),
  'oversize headers': (authorization) => get(['Host: a', authorization, `X-Test: ${'a'.repeat(9_000)}`]),
  'an oversize URL': (authorization) => get(['Host: a', authorization], `${path}?utm_source=${'a'.repeat(9_000)}`),
  'NUL in the path': (authorization) => get(['Host: a', authorization], `${path}\0`),
  'NUL in a header': (authorization) => get(['Host: a', authorization, 'X-Test: a\0b']),
  'raw bytes in the query string': (authorization) => get(['Host: a', authorization], `${path}?utm_source=\xc3\xa4`),
  'a bad %-escape in the path': (authorization) => get(['Host: a', authorization], '/api/v1/stats/%zz'),
  'no Host': (authorization) => get([authorization]),
  'two Hosts': (authorization) => get(['Host: a', 'Host: b', authorization]),
  'an expectation that cannot be met': (authorization) => get(['Host: a', authorization, 'Expect: foo']),
  CONNECT: () => 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
}

for (const [fault, request] of Object.entries(requests)) {
  test(`${fault}: refused in the error envelope, readable across origins, with a request id, not counted`, async (t) => {
    const { api, key } = await openWorld(t)
    const answer = await sendRaw(api.port, request(`Authorization: Bearer ${key.text}`))
    refused(answer, 400, 'invalid_parameter')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.ok(answer.headers.get('access-control-expose-headers'))
    assert.ok(answer.headers.get('x-request-id'))
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(rateLimitOf(answer), undefined)
  })
}

test('an unescaped non-ASCII character in the URL gets a hint to percent-encode it; other faults do not', async (t) => {
  const { api, key } = await openWorld(t)
  const message = async (name: string) =>
    (await sendRaw(api.port, requests[name]?.(`Authorization: Bearer ${key.text}`) ?? '')).json.error.message
  assert.match(await message('raw bytes in the query string'), /percent-encod.*%C3%BC/)
  assert.doesNotMatch(await message('no request line'), /percent/)
  assert.doesNotMatch(await message('oversize headers'), /percent/)
})

test('each refusal has its own request id', async (t) => {
  const { api } = await openWorld(t)
  const answers = await Promise.all([1, 2, 3].map(() => sendRaw(api.port, 'hello\r\n\r\n')))
  assert.equal(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size, 3)
})

test('a request that never ends is refused in the error envelope too', async (t) => {
  const { api } = await openWorld(t)
  refused(await sendRaw(api.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n`), 400, 'invalid_parameter')
})

test('unusual but valid requests succeed: HTTP/1.0 without Host, a body with GET, an Upgrade, an absolute URL', async (t) => {
  const { api, key } = await openWorld(t)
  const authorization = `Authorization: Bearer ${key.text}`
  const served = [
    `GET ${path} HTTP/1.0\r\n${authorization}\r\n\r\n`,
    `${get(['Host: a', authorization, 'Content-Type: application/json', 'Content-Length: 3'])}{{{`,
    get(['Host: a', authorization, 'Upgrade: h2c']),
    get(['Host: a', authorization], `http://a${path}`),
  ]
  for (const request of served) assert.equal((await sendRaw(api.port, request)).status, 200, request)
})
