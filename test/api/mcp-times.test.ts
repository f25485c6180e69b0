// How long a call of a tool may take: each question of it has the five seconds of a request (D-235).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { deadlineFactor } from '../../src/stores/deadline.ts'
import { now, recordTraffic } from '../mcp/traffic.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { inTime } from '../support/in-time.ts'
import { connectHttp, type McpClient, textOf } from '../support/mcp-client.ts'
import { startApi } from '../support/world.ts'

const ends: (() => Promise<unknown>)[] = []
let assistant: McpClient
let questionSeconds = 0

before(async () => {
  const stores = await freshStores((end) => void ends.push(end))
  const { accountKey } = await recordTraffic(stores)
  const { clickhouse } = stores
  const slow: ClickHouse = {
    ...clickhouse,
    async rows(statement, signal, limits) {
      // Only questions have limits of their own.
      if (limits) await sleep(questionSeconds * 1_000 * deadlineFactor, undefined, signal ? { signal } : {})
      return clickhouse.rows(statement, signal, limits)
    },
  }
  const api = await startApi({ ...stores, clickhouse: slow }, { now: () => Date.parse(now) })
  ends.push(api.close)
  assistant = await connectHttp(`http://127.0.0.1:${api.port}`, accountKey)
  ends.push(assistant.close)
})
after(async () => {
  for (const end of ends.toReversed()) await end()
})

const site = 'example.com'
const filters = [{ dimension: 'page', operator: 'is', values: ['/pricing'] }]

test('two questions of three seconds are compared, although an account asks one at a time', async () => {
  questionSeconds = 3
  const compared = await assistant.call('compare', {
    current: { site, range: 'last_week', filters },
    baseline: { site, range: 'last_month', filters },
    metrics: ['visitors'],
  })
  assert.equal(compared.isError, undefined, textOf(compared))
  const { current, baseline } = compared.structuredContent as Record<string, { metrics: object }>
  assert.deepEqual([current?.metrics, baseline?.metrics], [{ visitors: 2 }, { visitors: 1 }])
})

test('a question that takes longer than a request may is ended', async () => {
  questionSeconds = 20
  const began = performance.now()
  const failed = await assistant.call('overview', { site, filters })
  const took = performance.now() - began
  assert.equal(textOf(failed), 'The statistics cannot be read at the moment. Try again in a minute.')
  inTime(took < 10_000 * deadlineFactor, `the call took ${took} ms`)
})
