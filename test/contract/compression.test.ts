// Bodies over 1 kB are compressed with an encoding the client accepts (decision D-161). The tests use node:http because it does not
// decode bodies.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { AnswerReader } from '../checks/fuzz/answers.ts'
import { pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'
import { noon, times } from './vocabulary.ts'

const decoders: Record<string, (body: Buffer) => Buffer> = {
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
  gzip: zlib.gunzipSync,
  identity: (body) => body,
}

async function ask(world: World, path: string, accepted?: string, more: { method?: string; etag?: string } = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ encoding: string; body: Buffer; headers: Headers }>()
  const headers = {
    Authorization: `Bearer ${world.key.text}`,
    ...(accepted !== undefined && { 'Accept-Encoding': accepted }),
    ...(more.etag !== undefined && { 'If-None-Match': more.etag }),
  }
  request({ host: '127.0.0.1', port: world.api.port, path, headers, method: more.method ?? 'GET' }, (answer) => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => {
      const all = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
      resolve({ encoding: all.get('content-encoding') ?? 'identity', body: Buffer.concat(chunks), headers: all })
    })
  })
    .on('error', reject)
    .end()
  return promise
}

const path = '/api/v1/stats/timeseries?range=90d'

test('a body over 1 kB is sent in the encoding the client prefers, with the same content', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...times(9, (index) => pageview({ at: `2026-11-0${index + 1}T10:00:00Z` })))
  const plain = await ask(world, path)
  assert.equal(plain.encoding, 'identity')
  assert.ok(plain.body.length > 4_000)
  const wanted: [accepted: string, encoding: string][] = [
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['GZip', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['zstd;q=0, br;q=0, *', 'gzip'],
    ['*', 'zstd'],
    ['identity, gzip;q=0.5', 'identity'],
    ['gzip;q=0', 'identity'],
    ['deflate, compress', 'identity'],
    ['identity;q=0', 'identity'],
    ['', 'identity'],
    ['gzip;q=x', 'identity'],
  ]
  for (const [accepted, encoding] of wanted) {
    const answer = await ask(world, path, accepted)
    assert.equal(answer.encoding, encoding, accepted)
    assert.deepEqual(decoders[encoding]?.(answer.body), plain.body, accepted)
    assert.equal(answer.headers.get('content-length'), String(answer.body.length))
    assert.equal(answer.headers.get('vary'), 'Authorization, Accept, Accept-Encoding')
    assert.equal(answer.headers.get('etag'), plain.headers.get('etag'))
    if (encoding !== 'identity') assert.ok(answer.body.length < plain.body.length / 2, accepted)
  }
})

test('a response of a hundred years is compressed, and a body under 1 kB never is', async (t) => {
  const world = await openWorld(t, { now: noon })
  const long = '/api/v1/stats/timeseries?range=custom&start=1930-01-01&end=2026-11-14'
  for (const encoding of ['gzip', 'br', 'zstd']) {
    const answer = await ask(world, long, encoding)
    assert.equal(answer.encoding, encoding)
    assert.equal(JSON.parse(String(decoders[encoding]?.(answer.body))).data.length, 35_382)
  }
  for (const small of ['/api/v1/stats/overview', '/api/v1/stats/pages?limit=0', '/nothing', '/livez'])
    assert.equal((await ask(world, small, 'gzip, br, zstd')).encoding, 'identity', small)
})

test('HEAD has the headers of GET, 304 has no body, and the reference page is compressed', async (t) => {
  const world = await openWorld(t, { now: noon })
  const get = await ask(world, path, 'gzip')
  const head = await ask(world, path, 'gzip', { method: 'HEAD' })
  assert.deepEqual(
    [head.body.length, head.encoding, head.headers.get('content-length')],
    [0, 'gzip', String(get.body.length)],
  )
  const same = await ask(world, path, 'gzip', { etag: get.headers.get('etag') as string })
  assert.deepEqual([same.body.length, same.encoding], [0, 'identity'])
  for (const page of ['/api/v1/docs', '/api/v1/openapi.json']) {
    const answer = await ask(world, page, 'br')
    assert.equal(answer.encoding, 'br')
    assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
    assert.match(String(zlib.brotliDecompressSync(answer.body)), /\/stats\/overview/)
  }
})

test('a response that is ready before the one to an earlier request waits for it, also with Expect: 100-continue', async (t) => {
  const world = await openWorld(t, { now: noon })
  const socket = connect({ port: world.api.port, host: '127.0.0.1', allowHalfOpen: true })
  const headers = `Host: a\r\nAuthorization: Bearer ${world.key.text}\r\nAccept-Encoding: gzip\r\nExpect: 100-continue\r\n`
  const [slow, fast] = ['/api/v1/stats/timeseries?range=custom&start=1930-01-01&end=2026-11-14', '/api/v1/openapi.json']
  socket.write(`GET ${slow} HTTP/1.1\r\n${headers}\r\nGET ${fast} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
  const reader = new AnswerReader()
  reader.push(await buffer(socket))
  socket.destroy()
  assert.equal(JSON.parse(reader.next(true)?.body ?? '').data.length, 35_382)
  assert.match(reader.next(true)?.body ?? '', /openapi/)
  assert.equal(reader.rest.length, 0)
})
