import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { meanings } from '../../src/stats/meanings.ts'

test('docs/metrics.md has the sentence of every metric', () => {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  for (const [name, sentence] of Object.entries(meanings))
    assert.ok(page.includes(`| \`${name}\` | ${sentence} |`), name)
})
