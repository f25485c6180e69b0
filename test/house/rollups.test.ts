// Reads of rollups for every combination of filters: no condition can be missing or replaced by another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodsOf } from '../../src/calendar/periods.ts'
import type { Report } from '../../src/stats/report.ts'
import { reports } from '../../src/stats/reports.ts'
import type { Filters } from '../../src/traffic/conditions.ts'
import { planned, type UnplannedQuery } from '../support/planned-query.ts'
import { isRollups, rollupFaults } from '../support/rollup-rules.ts'
import { type Source, shapeOf } from '../support/statement-shape.ts'
import { recordingStore } from './scope-rules.ts'

/** Days with two versions, one of them with a gap, and a month. */
const rolledUp: UnplannedQuery = {
  siteId: 'site_the-one-we-ask-for',
  ...periodsOf({ name: '12m' }, Temporal.ZonedDateTime.from('2026-03-14T15:09:26.535[Europe/Berlin]')),
  filters: {},
  excludedCountries: [],
  versions: [
    { version: 4711, layout: 2, days: [['2025-01-01', '2026-02-20']], months: [['2025-06-01', '2025-06-30']] },
    {
      version: 4712,
      layout: 2,
      days: [
        ['2026-02-22', '2026-02-25'],
        ['2026-02-27', '2026-03-13'],
      ],
      months: [],
    },
  ],
  limit: 17,
}

const filters: Filters[] = [
  { country: 'FR' },
  { device: 'Tablet' },
  { hostname: 'host.example' },
  { utmSource: 'a source DE Mobile' },
]
const queries = Array.from(
  { length: 32 },
  (_, bits): UnplannedQuery => ({
    ...rolledUp,
    filters: Object.assign({}, ...filters.filter((_filter, index) => bits & (1 << index))),
    excludedCountries: bits & 16 ? ['IS', 'NO'] : [],
  }),
)

interface Asked {
  sources: Source[]
  parameters: Record<string, unknown>
}

/** The statement with one part broken, once for each part, with a name. */
function* broken({ sources, parameters }: Asked): Generator<[name: string, asked: Asked]> {
  for (const [index, source] of sources.entries()) {
    const put = (changed: Partial<Source>) => sources.with(index, { ...source, ...changed })
    for (const condition of source.conditions) {
      const conditions = source.conditions.filter((one) => one !== condition)
      yield [`without ${condition.form}`, { sources: put({ conditions }), parameters }]
    }
    const turned = source.selected.replace(/(-?)views AS/, (_, sign) => `${sign === '-' ? '' : '-'}views AS`)
    yield ['one count with the opposite sign', { sources: put({ selected: turned }), parameters }]
    const added = source.selected.replaceAll(/-(?=\w+ AS)/g, '')
    if (added !== source.selected) yield ['added up', { sources: put({ selected: added }), parameters }]
    if (sources.length > 1) yield ['one read missing', { sources: sources.toSpliced(index, 1), parameters }]
  }
  for (const name of new Set(sources.flatMap((one) => one.conditions.flatMap(({ names }) => names)))) {
    for (const [what, value] of others(parameters[name])) {
      yield [`${JSON.stringify(parameters[name])}: ${what}`, { sources, parameters: { ...parameters, [name]: value } }]
    }
  }
}

function* others(value: unknown): Generator<[what: string, value: unknown]> {
  if (Array.isArray(value)) {
    for (const index of value.keys()) {
      yield ['one missing', value.toSpliced(index, 1)]
      for (const [what, other] of others(value[index])) yield [what, value.with(index, other)]
    }
    yield ['one twice', [...value, value[0]]]
    return
  }
  const text = String(value)
  if (/^\d{4}-/.test(text)) return yield ['a day that is not rolled up', '2026-02-21']
  yield ['an extra character', `${text}x`]
  yield ['nothing', '']
  if (!/^(day|month|part) \d/.test(text)) return
  yield ['another version', text.replace(/ \d+ /, ' 4713 ')]
  yield ['no version', text.replace(/ \d+ /, ' ')]
  yield ['another span', text.replace(/^(day|month)/, (span) => (span === 'day' ? 'month' : 'year'))]
  yield [
    'another grouping set',
    text.replace(/^(\w+ \d+ \w+ )(\d+)/, (_, begin, groupingSet) => begin + (Number(groupingSet) ^ 4)),
  ]
  if (text.includes('host.example')) yield ['another host', text.replace('host.example', 'hose.example')]
}

for (const [name, report] of Object.entries<Report>(reports)) {
  test(`${name}: reads rollups with the requested site, versions, filters and exclusions`, async () => {
    let seen = 0
    for (const unplanned of queries) {
      const query = planned(unplanned, report)
      const store = recordingStore([])
      await report.read(store, query)
      for (const { text, parameters } of store.statements) {
        const sources = shapeOf(text).sources.filter(({ table }) => isRollups(table))
        if (sources.length === 0) continue
        assert.deepEqual(rollupFaults(sources, parameters, query), [], text)
        for (const [breakage, asked] of broken({ sources, parameters })) {
          seen++
          const faults = rollupFaults(asked.sources, asked.parameters, query)
          assert.notDeepEqual(faults, [], `${breakage}, ${JSON.stringify(query.filters)}`)
        }
      }
    }
    assert.ok(seen > 500, `${seen} breakages`)
  })
}
