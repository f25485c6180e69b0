// The dashboard for Grafana: its form, and every query of it against the real API, as the Infinity data source sends them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hits } from '../client/visits.ts'
import { noon, reportNames } from '../contract/vocabulary.ts'
import { read } from '../house/tree.ts'
import { openWorld } from '../support/world.ts'

interface Query {
  refId: string
  datasource?: object
  type: string
  source: string
  parser: string
  format: string
  url: string
  url_options: { method: string; params: { key: string; value: string }[] }
  root_selector: string
  columns: { selector: string; text: string; type: string; timestampFormat?: string }[]
}

interface Panel {
  id: number
  type: string
  datasource: object
  gridPos: { x: number; y: number; w: number; h: number }
  targets: Query[]
  fieldConfig: { overrides: { matcher: { options: string } }[] }
}

const dashboard = JSON.parse(read('docs/grafana/dashboard.json'))
const panels: Panel[] = dashboard.panels
const queries = panels.flatMap(({ targets }) => targets)
const [variable, ...otherVariables] = dashboard.templating.list
const siteQuery: Query = variable.query.infinityQuery

const plugin = 'yesoreyeram-infinity-datasource'
const chosen = { type: plugin, uid: '${' + 'DS_FOOTFALL}' }

test('the file can be imported: it asks for an Infinity data source, and everything in it uses that', () => {
  assert.deepEqual(
    dashboard.__inputs.map(({ name, type, pluginId }: Record<string, string>) => ({ name, type, pluginId })),
    [{ name: 'DS_FOOTFALL', type: 'datasource', pluginId: plugin }],
  )
  const required = dashboard.__requires.map(({ id }: { id: string }) => id)
  assert.deepEqual(required.sort(), [...new Set(['grafana', plugin, ...panels.map(({ type }) => type)])].sort())
  for (const { datasource } of [...panels, ...queries, variable]) assert.deepEqual(datasource, chosen)
  assert.ok(Number.isInteger(dashboard.schemaVersion))
  assert.match(dashboard.uid, /^[\w-]{1,40}$/)
  assert.equal(dashboard.timezone, 'utc', 'dates of the time range are sent as they are in UTC')
})

test('panels have ids of their own, fill the 24 columns and do not overlap', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  )
  assert.equal(new Set(cells).size, cells.length)
  const rows = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h))
  assert.equal(cells.length, 24 * rows)
})

test('every column that a panel formats is a column of its query', () => {
  for (const { id, targets, fieldConfig } of panels) {
    const names = targets.flatMap(({ columns }) => columns.map(({ text }) => text))
    for (const { matcher } of fieldConfig.overrides)
      assert.ok(names.includes(matcher.options), `${id}: ${matcher.options}`)
  }
})

test('the dashboard has every report, and no variables but the time range and the site', () => {
  assert.deepEqual(queries.map(({ url }) => url).sort(), reportNames.map((name) => `/stats/${name}`).sort())
  assert.deepEqual([variable.name, otherVariables], ['site', []])
  const used = [...JSON.stringify(dashboard).matchAll(/\$\{(\w+)[:}]/g)].map(([, name]) => name)
  assert.deepEqual([...new Set(used)].sort(), ['DS_FOOTFALL', '__from', '__to', 'site'])
})

const variables: Record<string, string> = { '__from:date:iso': '2026-10-17T00:00:00.000Z', '__to:date:iso': noon }

/** The base URL, the address of the query and all its parameters, even empty ones. */
function addressOf({ url, url_options }: Query, site: string): string {
  const values: Record<string, string> = { ...variables, site }
  const value = (text: string) => text.replace(/\$\{(.+?)\}/g, (_, name: string) => values[name] ?? '')
  const query = new URLSearchParams(url_options.params.map(({ key, value: text }) => [key, value(text)]))
  return `${url}${query.size > 0 ? `?${query}` : ''}`
}

/** `data.current` in a body; an object is one row. */
function rowsOf(body: Record<string, unknown>, selector: string): Record<string, unknown>[] {
  const found = selector.split('.').reduce((value, name) => value[name] as never, body)
  return Array.isArray(found) ? found : [found]
}

const isOfType: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  timestamp: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)), // 2006-01-02
}

for (const query of [...queries, siteQuery])
  test(`${query.url} is answered, and its columns are fields of the response`, async (t) => {
    const world = await openWorld(t, { now: noon })
    await world.record(...hits)
    assert.deepEqual(
      [query.type, query.source, query.parser, query.format, query.url_options.method],
      ['json', 'url', 'backend', 'table', 'GET'],
    )
    const { status, json, headers, text } = await world.get(addressOf(query, world.siteId))
    assert.equal(status, 200, text)
    const warnings = headers.get('stats-warning')?.split('; ') ?? []
    assert.deepEqual(
      warnings.filter((warning) => !/^the time in (start|end) has no effect/.test(warning)),
      [],
    )
    const rows = rowsOf(json, query.root_selector)
    assert.ok(rows.length > 0)
    for (const row of rows) {
      for (const { selector, type, timestampFormat } of query.columns) {
        assert.ok(isOfType[type]?.(row[selector]), `${selector} is ${row[selector]}, not a ${type}`)
        assert.equal(timestampFormat, type === 'timestamp' ? '2006-01-02' : undefined)
      }
      const shown = query.columns.map(({ selector }) => selector).sort()
      const known = Object.keys(row).sort()
      assert.deepEqual(query === siteQuery ? [...shown, 'time_zone'].sort() : shown, known)
    }
  })
