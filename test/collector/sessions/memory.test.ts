import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openMemorySessions } from '../../../src/collector/sessions/memory-sessions.ts'
import { readReferrer, readTags } from '../../../src/enrichment/source.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('a session with all UTM tags takes at most 800 bytes, however long its URLs are', (t) => {
  const sessions = openMemorySessions()
  t.after(() => sessions.close())
  const count = 5_000
  const rest = 'x'.repeat(1_500)
  const own = { hostnames: ['shop.example'], allowSubdomains: false }
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let visitor = 0; visitor < count; visitor++) {
    const tags = ['source', 'medium', 'campaign', 'content', 'term'].map((tag) => `utm_${tag}=${tag}-of-${visitor}`)
    // Parsed, because every request is its own text.
    const [page, referrer] = JSON.parse(
      JSON.stringify([
        `https://shop.example/?${tags.join('&')}&rest=${rest}`,
        `https://www.site-${visitor}.example/${rest}`,
      ]),
    ) as [string, string]
    const url = new URL(page)
    const origin = { referrer: readReferrer(url, referrer, own), channel: 'Email' as const, ...readTags(url) }
    sessions.join('site', `${visitor}`, Date.now(), () => origin)
  }
  collectGarbage()
  const bytes = (process.memoryUsage().heapUsed - before) / count
  assert.equal(sessions.size(), count)
  assert.ok(bytes < 800, `${bytes} bytes per session`)
})
