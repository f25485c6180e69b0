// Reads of tallies, for every combination of filters: nothing that narrows them can be left out or be another one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodsOf } from '../../src/stats/period.ts'
import type { Filters, StatsQuery } from '../../src/stats/query.ts'
import type { Report } from '../../src/stats/report.ts'
import { reports } from '../../src/stats/reports.ts'
import { type Source, shapeOf } from '../support/statement-shape.ts'
import { isTallies, talliesFaults } from '../support/tallies-rules.ts'
import { recordingStore } from './scope-rules.ts'

/** Days under two versions, one of them with a hole, and a month. */
const folded: StatsQuery = {
  siteId: 'site_the-one-we-ask-for',
  ...periodsOf({ name: '12m' }, Temporal.ZonedDateTime.from('2026-03-14T15:09:26.535[Europe/Berlin]')),
  filters: {},
  excludedCountries: [],
  folds: [
    { version: 4711, days: [['2025-01-01', '2026-02-20']], months: [['2025-06-01', '2025-06-30']] },
    {
      version: 4712,
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
  { utmSource: 'a 7:source DE Mobile' },
]
const questions = Array.from(
  { length: 32 },
  (_, bits): StatsQuery => ({
    ...folded,
    filters: Object.assign({}, ...filters.filter((_filter, index) => bits & (1 << index))),
    excludedCountries: bits & 16 ? ['IS', 'NO'] : [],
  }),
)

interface Asked {
  sources: Source[]
  parameters: Record<string, unknown>
}

/** What a statement would be with one thing in it broken, each under its name. */
function* broken({ sources, parameters }: Asked): Generator<[name: string, asked: Asked]> {
  for (const [index, source] of sources.entries()) {
    const put = (changed: Partial<Source>) => sources.with(index, { ...source, ...changed })
    for (const condition of source.conditions) {
      const conditions = source.conditions.filter((one) => one !== condition)
      yield [`without ${condition.form}`, { sources: put({ conditions }), parameters }]
    }
    const turned = source.selected.replace(/(-?)views AS/, (_, sign) => `${sign === '-' ? '' : '-'}views AS`)
    yield ['one count with another sign', { sources: put({ selected: turned }), parameters }]
    const added = source.selected.replaceAll(/-(?=\w+ AS)/g, '')
    if (added !== source.selected) yield ['added up', { sources: put({ selected: added }), parameters }]
    if (sources.length > 1) yield ['without a read', { sources: sources.toSpliced(index, 1), parameters }]
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
  if (/^\d{4}-/.test(text)) return yield ['a day that is not folded', '2026-02-21']
  yield ['something after it', `${text}x`]
  yield ['nothing', '']
  if (!text.includes(' ')) return
  yield ['another version', text.replace(/ \d+ /, ' 4713 ')]
  yield ['no version', text.replace(/ \d+ /, ' ')]
  yield ['another span', text.replace(/^(day|month)/, (span) => (span === 'day' ? 'month' : 'year'))]
  yield ['another cell', text.replace(/^(\w+ \d+ \w+ )(\d+)/, (_, begin, cell) => begin + (Number(cell) ^ 4))]
  if (text.includes('host.example')) yield ['another host', text.replace('host.example', 'hose.example')]
  if (text.includes(':a 7')) yield ['another source', text.replace(':a 7', ':b 7')]
  if (/ FR\b/.test(text)) yield ['another country', text.replace(/ FR\b/, ' DE')]
  if (/ Tablet$/.test(text)) yield ['another device', text.replace(/ Tablet$/, ' Mobile')]
}

for (const [name, report] of Object.entries<Report>(reports)) {
  test(`${name}: reads tallies of the site, the folds, the filters and the exclusions that were asked for`, async () => {
    let seen = 0
    for (const query of questions) {
      const store = recordingStore([])
      await report.read(store, query)
      for (const { text, parameters } of store.statements) {
        const sources = shapeOf(text).sources.filter(({ table }) => isTallies(table))
        if (sources.length === 0) continue
        assert.deepEqual(talliesFaults(sources, parameters, query), [], text)
        for (const [breakage, asked] of broken({ sources, parameters })) {
          seen++
          const faults = talliesFaults(asked.sources, asked.parameters, query)
          assert.notDeepEqual(faults, [], `${breakage}, ${JSON.stringify(query.filters)}`)
        }
      }
    }
    assert.ok(seen > 500, `${seen} breakages`)
  })
}
