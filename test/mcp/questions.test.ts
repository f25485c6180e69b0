// The forty questions, asked by the official client on a real API with real databases.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { tools } from '../../src/mcp/server.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { connectHttp, type Era, type McpClient, textOf } from '../support/mcp-client.ts'
import { startApi } from '../support/world.ts'
import { questions } from './questions.ts'
import { now, recordTraffic } from './traffic.ts'

const ends: (() => Promise<unknown>)[] = []
const clients: Partial<Record<Era, McpClient>> = {}

before(async () => {
  const stores = await freshStores((end) => void ends.push(end))
  const { accountKey } = await recordTraffic(stores)
  const api = await startApi(stores, { now: () => Date.parse(now) })
  ends.push(api.close)
  for (const era of ['legacy', 'modern'] as const) {
    const client = await connectHttp(`http://127.0.0.1:${api.port}`, accountKey, era)
    ends.push(client.close)
    clients[era] = client
  }
})
after(async () => {
  for (const end of ends.toReversed()) await end()
})

test('there are forty questions, and every tool answers some of them', () => {
  assert.equal(new Set(questions.map(({ question }) => question)).size, 40)
  const called = new Set(questions.flatMap(({ calls }) => calls.map(({ tool }) => tool)))
  assert.deepEqual([...called].sort(), tools.map(({ name }) => name).sort())
  assert.ok(tools.length <= 6)
})

for (const [number, { question, calls }] of questions.entries()) {
  test(question, async () => {
    for (const { tool, input, expect } of calls) {
      const era = number % 2 === 0 ? 'legacy' : 'modern'
      const result = await (clients[era] as McpClient).call(tool, input)
      assert.ok(!result.isError, textOf(result))
      contains(result.structuredContent, expect, tool)
      namesWhatItIsAbout(tool, textOf(result), result.structuredContent as Record<string, unknown>)
    }
  })
}

/** Objects may have more fields than expected; lists must be complete. */
function contains(actual: unknown, expected: unknown, at: string): void {
  if (Array.isArray(expected)) {
    assert.equal((actual as unknown[]).length, expected.length, `${at}: ${JSON.stringify(actual)}`)
    for (const [index, one] of expected.entries()) contains((actual as unknown[])[index], one, `${at}[${index}]`)
  } else if (expected !== null && typeof expected === 'object') {
    for (const [name, one] of Object.entries(expected)) {
      contains((actual as Record<string, unknown>)[name], one, `${at}.${name}`)
    }
  } else {
    assert.equal(actual, expected, at)
  }
}

/** Assistants that read only the text get the site, the days, the zone and every number, too. */
function namesWhatItIsAbout(tool: string, text: string, data: Record<string, unknown>): void {
  const about = tool === 'compare' ? [data.current, data.baseline] : [data]
  for (const one of about as { site?: { domain: string }; period?: Record<string, string> }[]) {
    if (!one.site || !one.period) continue
    for (const word of [one.site.domain, one.period.start, one.period.end, one.period.time_zone]) {
      assert.ok(text.includes(word as string), `${word} is not in ${text}`)
    }
  }
  for (const row of (data.rows ?? []) as Record<string, unknown>[]) {
    for (const [name, value] of Object.entries(row)) {
      if (name !== 'days') assert.ok(text.includes(String(value)), `${name} ${value} is not in ${text}`)
    }
  }
}
