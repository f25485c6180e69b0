// Each documented example equals the response of a running API: the same fields, in the same order, with the same types and numbers.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { demoSite } from '../../../dev/docs/examples.ts'
import { exampleQuery } from '../../../src/api/openapi-text.ts'
import { generateDemo } from '../../../src/demo/generate.ts'
import { type ReportName, reports } from '../../../src/stats/reports.ts'
import { openWorld } from '../../support/world.ts'

interface Documented {
  paths: Record<string, { get: { responses: { 200: { content: { 'application/json': { examples: Examples } } } } } }>
}
type Examples = Record<string, { summary: string; value: { data: unknown; meta: Record<string, unknown> } }>

/** Names in their order, and types. Whole numbers differ from fractions. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([name, one]) => [name, shapeOf(one)])
  return Number.isInteger(value) ? 'integer' : value === null ? 'null' : typeof value
}

test('every example of docs/openapi.json equals a live response in shape, order and numbers', async (t) => {
  const world = await openWorld(t, { zone: demoSite.zone, now: new Date(demoSite.until).toISOString() })
  await generateDemo({ clickhouse: world.stores.clickhouse, siteId: world.siteId, ...demoSite })
  const file = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')
  const { paths } = JSON.parse(file) as Documented
  for (const name of Object.keys(reports) as ReportName[]) {
    const { examples } = paths[`/stats/${name}`]!.get.responses[200].content['application/json']
    assert.deepEqual(Object.keys(examples), ['demo'])
    const { summary, value } = examples.demo!
    const query = exampleQuery(reports[name])
    assert.ok(summary.endsWith(query), summary)
    const live = await world.get(`/stats/${name}`, query)
    assert.deepEqual(shapeOf(value), shapeOf(live.json), name)
    assert.equal(JSON.stringify(value.data), JSON.stringify(live.json.data), name)
    assert.deepEqual({ ...value.meta, site_id: world.siteId }, live.json.meta)
  }
  const own = { site_id: world.siteId, domain: world.domain }
  for (const [path, query] of [
    ['/sites', ''],
    ['/sites/overview', 'range=7d'],
    ['/countries', ''],
  ] as const) {
    const { value } = paths[path]!.get.responses[200].content['application/json'].examples.demo!
    const live = await world.get(path, query)
    const rows = (value.data as object[]).map((row) => ({ ...row, ...('site_id' in row && own) }))
    assert.equal(JSON.stringify(rows), JSON.stringify(live.json.data.slice(0, rows.length)), path)
    assert.deepEqual(value.meta, live.json.meta)
  }
})
