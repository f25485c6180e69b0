import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { readTracker, readTrackers } from '../../../src/tracker/script.ts'
import { openRecordingSite } from './recording-site.ts'

test('the script is at most 1.6 kB and always the same', () => {
  const { gzipped, body } = readTracker()
  assert.ok(gzipped.length <= 1_600, `${gzipped.length} bytes`)
  assert.deepEqual(gunzipSync(gzipped), body)
  assert.deepEqual(readTracker().body, body)
})

test('a version that pages pin by its hash never changes (D-119): a changed script is a new version', () => {
  assert.deepEqual(
    readTrackers().map(({ version, integrity }) => [version, integrity]),
    [
      [1, 'sha384-8mnnvtOu4mpKvA+EMdWa2yI55np5ONspxDbTM3PhtW+vJdw3suCGSQyf7YG+RvVS'],
      [2, 'sha384-sJ/SLVoHgsA+VoM7EbbtR+uQ2mTya7XQYU+TDx23Wqnvk4t2tIkrR7tM1XEvx+S5'],
      [3, 'sha384-APBDSJiCcvK38aZ5pPtzEqSelT5Xs0cgHZa9yVAUJX78zC3Cwb0eg+OIeaeZjdXV'],
    ],
  )
  assert.deepEqual(readTrackers().at(-1), readTracker())
})

test('the script writes no cookie and no storage: it only reads one entry of localStorage', () => {
  const source = readFileSync(new URL('../../../src/tracker/footfall.js', import.meta.url), 'utf8')
  const code = source.replace(/^\s*\/\/.*$/gm, '')
  assert.doesNotMatch(code, /cookie|sessionStorage|indexedDB|caches|setItem/)
  assert.deepEqual(code.match(/localStorage\S*(?: =+)?/g), ['localStorage.footfall_ignore ==='])
})

test('all URLs serve their script to every site, the latest to be revalidated, versions cached for ever', async (t) => {
  const { scriptUrl } = await openRecordingSite(t, () => ({}))
  const base = new URL(scriptUrl).origin
  const immutable = 'public, max-age=31536000, immutable'
  for (const [path, caching, { body, integrity }] of [
    ['/js/footfall.js', 'public, max-age=3600, stale-while-revalidate=86400', readTracker()],
    ...readTrackers().map((script) => [`/js/footfall-${script.version}.js`, immutable, script] as const),
  ] as const) {
    const answer = await fetch(base + path) // requests gzip and decompresses it
    assert.equal(answer.status, 200, path)
    assert.equal(answer.headers.get('content-encoding'), 'gzip')
    assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
    assert.equal(answer.headers.get('cache-control'), caching)
    const received = Buffer.from(await answer.arrayBuffer())
    assert.deepEqual(received, body)
    assert.equal(integrity, `sha384-${hash('sha384', received, 'base64')}`)

    const plain = await fetch(base + path, { headers: { 'Accept-Encoding': 'identity' } })
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.deepEqual(Buffer.from(await plain.arrayBuffer()), body)

    const head = await fetch(base + path, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })
    assert.equal(head.headers.get('content-length'), String(body.length))
    assert.equal(await head.text(), '')

    const again = await fetch(base + path, { headers: { 'If-None-Match': answer.headers.get('etag') as string } })
    assert.equal(again.status, 304)
    assert.equal(await again.text(), '')
    const other = await fetch(base + path, { headers: { 'If-None-Match': '"another"' } })
    assert.equal(other.status, 200)
  }
  assert.equal((await fetch(`${base}/js/footfall-0.js`)).status, 404)
})
