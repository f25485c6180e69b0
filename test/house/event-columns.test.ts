// Every column of events is written, generated, checked and described. A column that one of these forgets is lost without an error.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { makeWorld } from '../checks/oracle/worlds.ts'
import { tableRows } from './documents.ts'
import { read } from './tree.ts'

/** What docs/privacy.md calls each column. */
const words: Record<string, string> = {
  site_id: 'site',
  day: 'day',
  time: 'time',
  visitor_id: 'visitor id',
  session_id: 'session id',
  event_id: 'event id',
  name: 'name',
  hostname: 'host',
  pathname: 'path',
  referrer: 'referring host',
  channel: 'channel',
  utm_source: 'UTM source',
  utm_medium: 'medium',
  utm_campaign: 'campaign',
  utm_content: 'content',
  utm_term: 'term',
  country: 'country',
  device: 'device class',
  browser: 'browser family',
  os: 'system family',
  props: 'properties',
  revenue: 'revenue',
  currency: 'currency',
  import_id: 'import',
}

const columns = columnsIn(read('migrations/clickhouse/schema.sql'))

function columnsIn(schema: string): string[] {
  const [, table = ''] = /CREATE TABLE events\n\(\n(.*?)\n\)/s.exec(schema) ?? []
  return [...table.matchAll(/^ {4}`(\w+)`/gm)].map(([, name]) => name as string)
}

const missingIn = (known: readonly string[], except: readonly string[] = []): string[] =>
  columns.filter((column) => !except.includes(column) && !known.includes(column))

test('the schema has the columns that are named here', () => {
  assert.deepEqual(columns.toSorted(), Object.keys(words).sort())
})

test('recording the worlds of the oracle writes different values into every column', async () => {
  const values = new Map<string, Set<string>>()
  // Stands for a server: nothing but the rows matters.
  const clickhouse = {
    async insert(table: string, rows: readonly Record<string, unknown>[]) {
      if (!table.startsWith('events ')) return
      for (const [column, value] of rows.flatMap((row) => Object.entries(row)))
        if (value !== undefined) values.set(column, (values.get(column) ?? new Set()).add(JSON.stringify(value)))
    },
  } as unknown as ClickHouse
  for (const number of [1, 2, 3, 4, 5]) {
    const events = makeWorld('columns', number).events.map((event) => ({ ...event, siteId: `site_${number}` }))
    await recordBatch(clickhouse, { id: `${number}`, events })
  }
  assert.deepEqual(missingIn([...values].filter(([, some]) => some.size > 1).map(([column]) => column)), [])
})

test('demo traffic has every column; its events count as live', () => {
  const [, inserted = ''] = /INSERT INTO events\s*\(([^)]*)\)/.exec(read('src/demo/statement.ts')) ?? []
  assert.deepEqual(missingIn(inserted.trim().split(/,\s*/), ['import_id']), [])
})

test('a walk through the seams compares every column but the random ids', () => {
  const [, selected = ''] = /SELECT(.*?)FROM events/s.exec(read('test/checks/seams/columns.ts')) ?? []
  assert.deepEqual(missingIn(selected.match(/\w+/g) ?? [], ['site_id', 'visitor_id', 'session_id', 'event_id']), [])
})

test('the data model describes every column', () => {
  const [events] = read('docs/data-model.md').split('**`titles`**')
  const described = tableRows(events ?? '', 'Column', 'Meaning').flatMap(([names]) => names?.split(', ') ?? [])
  assert.deepEqual(missingIn(described.map((name) => name.replaceAll('`', ''))), [])
})

test('the privacy page names every column among what is stored', () => {
  const stored = tableRows(read('docs/privacy.md'), 'What', 'Where', 'How long')
  const [row = ''] = stored.map(([what = '']) => what).filter((what) => what.startsWith('Events: '))
  const named = row.slice('Events: '.length).split(/, | and /)
  assert.deepEqual(
    Object.values(words).filter((word) => !named.includes(word)),
    [],
  )
})
