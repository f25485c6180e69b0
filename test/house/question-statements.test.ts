// Every statement of a question, whatever it asks, reads only its site, its days and countries that are not excluded; and no value of a
// request is part of a statement's text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readQueryString } from '../../src/stats/query-string.ts'
import { dimensions } from '../../src/stats/questions/dimensions.ts'
import { readQuestion } from '../../src/stats/questions/parameters.ts'
import { type QuestionKind, questionKinds } from '../../src/stats/questions/question.ts'
import { questionQuery } from '../../src/stats/questions/questions.ts'
import type { StatsSite } from '../../src/stats/report.ts'
import type { Statement } from '../../src/stores/clickhouse-sql.ts'
import { shapeOf } from '../support/statement-shape.ts'
import { recordingStore } from './scope-rules.ts'

/** Rolled up but for the last days, so that statements read rollups, events, or both. */
const ownDays: StatsSite = {
  id: 'site_the-one-we-ask-for',
  timeZone: 'Europe/Berlin',
  excludedCountries: ['IS', 'NO'],
  goals: [
    { name: 'Hostile', condition: { kind: 'event', event: "'); DROP", property: { key: 'plan', value: "'); DROP" } } },
    { name: 'Blog', condition: { kind: 'path', pattern: "/'); DROP/**" } },
  ],
  shard: 1,
  coverage: {
    versions: [
      { version: 4711, layout: 1, days: [['2026-01-20', '2026-02-20']], months: [] },
      { version: 4712, layout: 2, days: [['2026-02-21', '2026-03-07']], months: [] },
    ],
    today: null,
    settledThrough: '2026-03-07',
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  },
}
const now = Temporal.Instant.from('2026-03-14T14:09:26.535Z').epochMilliseconds
const hostile = "'); DROP"

const values: Record<string, string> = { country: 'FR', device: 'tablet', hostname: 'host.example', goal: 'Hostile' }
const operatorsOf = (name: string) => (name === 'goal' ? ['is', 'is_not'] : ['is', 'is_not', 'contains', 'starts_with'])
const names = [...dimensions.map(({ name }) => name), 'prop:plan']
const filters = names.flatMap((name) =>
  operatorsOf(name).map((operator) => `filter=${encodeURIComponent(`${name}:${operator}:${values[name] ?? hostile}`)}`),
)

async function statementsOf(kind: QuestionKind, query: string, site = ownDays): Promise<Statement[]> {
  const url = `?${query}`
  const { question } = readQuestion(readQueryString(url), url, { kind, goals: site.goals, maxLimit: 1000 })
  const store = recordingStore([{ value: hostile, visitors: 1, views: 1 }])
  const { prepare } = questionQuery({ of: () => store }, { site, question, queueKey: '' }, now)
  await prepare()(AbortSignal.timeout(1_000))
  return store.statements
}

function faultsOf({ text, parameters }: Statement): string[] {
  const { sources, faults, siteMentions } = shapeOf(text)
  const missing = sources.flatMap(({ table, conditions }) => {
    const has = (form: RegExp, value: unknown) =>
      conditions.some((one) => form.test(one.form) && one.names.some((name) => isEqual(parameters[name], value)))
    if (table === 'imported_sums') {
      const isWhole = conditions.some(({ form }) =>
        /^\(?\(list = \? AND version = toUInt64\(\?\) AND \(?day BETWEEN/.test(form),
      )
      const isExcluding = has(/value NOT IN \?/, ownDays.excludedCountries)
      return has(/^site_id = \?$/, ownDays.id) && isWhole && isExcluding
        ? []
        : [`${table} without its site, days or exclusions`]
    }
    if (!['events', 'sessions', 'short_rollups', 'long_rollups'].includes(table)) return [`reads ${table}`]
    return [
      ...(has(/^site_id = \?$/, ownDays.id) ? [] : [`${table} without its site`]),
      ...(!['events', 'sessions'].includes(table) || has(/^NOT has\(\?, country\)$/, ownDays.excludedCountries)
        ? []
        : ['excluded countries']),
      ...(conditions.some(({ form }) => /\bday\b/.test(form)) ? [] : [`${table} without days`]),
    ]
  })
  return [
    ...faults,
    ...missing,
    ...(siteMentions === sources.length ? [] : ['mentions site_id elsewhere']),
    ...(text.includes('DROP') ? ['a value is part of the text'] : []),
  ]
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const metrics = 'metrics=visitors,pageviews,sessions,bounce_rate,avg_duration,events,conversions,revenue:EUR'
const asked: [QuestionKind, string][] = [
  ...filters.map((filter): [QuestionKind, string] => ['totals', `${filter}&${metrics}&goal=Hostile`]),
  // Sessions have no revenue, and no properties, which the goal Hostile has.
  ...filters.map((filter): [QuestionKind, string] => [
    'totals',
    `${filter}&metrics=pageviews,events,conversions&goal=Blog`,
  ]),
  ...filters.map((filter): [QuestionKind, string] => ['timeseries', `${filter}&interval=hour&compare=previous`]),
  ...names.map((name): [QuestionKind, string] => ['breakdown', `by=${name}&${metrics}&goal=Blog&compare=year`]),
  ...names.map((name): [QuestionKind, string] => ['breakdown', `by=${name}&limit=3`]),
  ...filters.map((filter): [QuestionKind, string] => ['breakdown', `by=page&${filter}`]),
  ...questionKinds.map((kind): [QuestionKind, string] => [kind, 'by=device&filter=country:is:FR&range=90d']),
]

test('every statement of every kind of question has its site, its days and the exclusions, and no value as text', async () => {
  let statements = 0
  let fromSessions = 0
  for (const [kind, query] of asked)
    for (const statement of await statementsOf(kind, query)) {
      assert.deepEqual(faultsOf(statement), [], `${kind} ${query}\n${statement.text}`)
      statements++
      if (statement.text.includes('FROM sessions')) fromSessions++
    }
  assert.ok(statements > 250, `${statements} statements`)
  assert.ok(fromSessions > 100, `${fromSessions} statements over sessions`)
})

test('imported days are read of their site only, and of a site with exclusions only for the list of countries', async () => {
  const days = [['2026-02-20', '2026-02-25']] as const
  const metrics = ['visitors', 'pageviews', 'sessions', 'bounces', 'duration', 'events']
  const imported = names.map((list) => ({ list, metrics, days, version: '4713' }))
  const site = { ...ownDays, coverage: { ...ownDays.coverage, imported } }
  const read: string[] = []
  for (const [kind, query] of asked)
    for (const statement of await statementsOf(kind, query, site)) {
      assert.deepEqual(faultsOf(statement), [], `${kind} ${query}\n${statement.text}`)
      if (statement.text.includes('imported_sums')) read.push(query)
    }
  assert.deepEqual(new Set(read), new Set(['by=country&limit=3']))
})

test('a statement without one of them is noticed', async () => {
  const [statement] = await statementsOf('breakdown', `by=page&${filters[0]}`).then((all) =>
    all.filter(({ text }) => text.includes('FROM events')),
  )
  assert.ok(statement)
  for (const form of [/site_id = \{\w+:String\} AND /, /NOT has\(\{[^}]*\}, country\) AND /, /day BETWEEN/])
    assert.notDeepEqual(faultsOf({ ...statement, text: statement.text.replace(form, '') }), [], form.source)
})
