import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { tools } from '../../src/mcp/server.ts'
import { terms } from '../../src/mcp/terms.ts'
import { dimensions } from '../../src/stats/questions/dimensions.ts'
import { metrics } from '../../src/stats/questions/metrics.ts'

test('every term has a sentence and a unit, and no name is there twice', () => {
  assert.equal(new Set(terms.map(({ name }) => name)).size, terms.length)
  for (const { name, meaning, unit } of terms) {
    assert.match(meaning, /^[A-Z].*[A-Za-z0-9]\.$/, name)
    assert.ok(['count', 'percent', 'seconds', 'minor units', 'text'].includes(unit), name)
  }
})

test('every dimension and metric of questions is explained', () => {
  const names = terms.map(({ name }) => name)
  for (const { name } of [...dimensions, ...metrics]) assert.ok(names.includes(name), name)
})

test('docs/mcp.md has a row for every tool, and no others', () => {
  const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(
    rows,
    tools.map(({ name }) => name),
  )
})

test('every input takes exactly what it names, and every parameter says what it is', () => {
  const closed = (schema: { properties: Record<string, object>; additionalProperties?: unknown }, at: string) => {
    assert.equal(schema.additionalProperties, false, at)
    for (const [name, one] of Object.entries(schema.properties)) {
      const { description, items = one } = one as { description?: string; items?: object }
      assert.match(description ?? '', /\.$/, `${at}.${name}`)
      if ('properties' in items) closed(items as never, `${at}.${name}`)
    }
  }
  for (const { name, input } of tools) closed(input as never, name)
})
