// Query strings of /api/v2: questions that are right, almost right, and as long and as expensive as they may be.
import type { Random } from '../../support/random.ts'
import type { FuzzWorld } from './accounts.ts'
import { dimensions, metrics, operators } from './question-oracle.ts'
import { anyCase, bad, fitting, good, hostile, many, pair, type Temper } from './values.ts'

type Pick = (random: Random, world: FuzzWorld) => string

const property = (random: Random): string =>
  `prop:${random.pick(['plan', 'a.b-c_D', '0', '__proto__', 'x'.repeat(60)])}`
const dimension = (random: Random): string => (random.oneIn(5) ? property(random) : random.pick(dimensions))
const goalOf: Pick = (random, world) => random.pick([...world.sites.values()].flatMap(({ goals }) => goals))
const metric = (random: Random): string => (random.oneIn(6) ? 'revenue:EUR' : random.pick(metrics.slice(0, 7)))
const cursorOf = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
/** Of the two usual metrics. */
const now = (random: Random): number => random.pick([Date.now(), 0, 1, Date.UTC(2024, 1, 29), Date.UTC(9999, 11, 1)])

const goodPart: Readonly<Record<string, Pick>> = {
  ...{ range: good.range as Pick, start: good.start as Pick, end: good.end as Pick },
  day: (random) => random.pick(['2024-01-31', '20240229', '2024-01-31T10:00:00Z']),
  metrics: (random) =>
    [...new Set(Array.from({ length: 1 + random.below(5) }, () => metric(random)))].join(',') +
    (random.oneIn(10) ? ',conversions' : ''),
  goal: goalOf,
  compare: (random) => random.pick(['previous', 'year', '2024-01-01/2024-01-31', '2024-02-29/2024-02-29']),
  match: () => 'weekday',
  interval: (random) => random.pick(['hour', 'day', 'week', 'month']),
  by: dimension,
  order: (random) => random.pick(['visitors', 'visitors:asc', 'pageviews', 'sessions:asc']),
  limit: (random) => `${random.below(1000) + 1}`,
  cursor: (random) => cursorOf([now(random), [random.below(9), random.below(9)], random.pick(hostile)]),
}

const badPart: Readonly<Record<string, Pick>> = {
  ...{ range: bad.range as Pick, start: bad.start as Pick, end: bad.end as Pick },
  day: (random) => random.pick(['2024-02-30', 'today', '2024-1-1', '0000-01-01']),
  metrics: (random) =>
    random.pick(['visitor', 'Visitors', 'visitors,visitors', 'visitors,', 'revenue', 'revenue:eur', 'revenue:EURO']),
  goal: (random) => random.pick(['Nothing', 'signup', 'Signup ', 'Foreign goal', "'; DROP TABLE goals; --"]),
  compare: (random) =>
    random.pick([
      'Previous',
      '7d',
      '2024-01-01',
      '2024-02-30/2024-03-01',
      '2024-03-02/2024-03-01',
      '1800-01-01/2024-01-01',
    ]),
  match: (random) => random.pick(['day', 'Weekday', 'true']),
  interval: (random) => random.pick(['minute', 'Day', 'hour,day', '1h']),
  by: (random) => random.pick(['path', 'Page', 'prop:', 'prop:a b', 'prop', `prop:${'x'.repeat(61)}`, 'page,hostname']),
  order: (random) => random.pick(['visitor', 'visitors:desc', 'visitors:asc:asc', ':asc', '-visitors']),
  limit: (random) => random.pick(['0', '1001', '100000', '1e2', '-1', '١', '01', 'all']),
  cursor: (random) =>
    random.pick([
      ...['x', 'null', 'W10', cursorOf({}), cursorOf([]), cursorOf([now(random), [1], 'x', 0])],
      ...[cursorOf([-1, [1, 1], 'x']), cursorOf([1e300, [1, 1], 'x']), cursorOf([1, [1.5, 1], 'x'])],
      ...[cursorOf([1, [1, 1], null]), cursorOf([1, ['1', 1], 'x']), `${cursorOf([1, [1, 1], 'x'])}=`],
    ]),
}

const parts = Object.keys(goodPart)

export function questionOf(random: Random, world: FuzzWorld, temper: Temper): string {
  if (temper === 'wild' && random.oneIn(15)) return many(random)
  if (random.oneIn(40)) return longest(random)
  const pairs = random
    .sample(parts, random.pick([0, 1, 2, 2, 3, 4]))
    .map((name) => pair(random, name, (goodPart[name] as Pick)(random, world)))
  if (!random.oneIn(8)) pairs.push(`by=${dimension(random)}`)
  for (let count = random.pick([0, 0, 1, 1, 2, 3, random.oneIn(5) ? 9 : 8]); count > 0; count--)
    pairs.push(pair(random, 'filter', goodFilter(random, world)))
  if (temper !== 'sound' && !random.oneIn(6)) {
    for (let count = random.pick([1, 1, 2]); count > 0; count--)
      pairs.splice(random.below(pairs.length + 1), 0, faulty(random, world, temper))
  }
  return fitting(pairs.join('&'))
}

function faulty(random: Random, world: FuzzWorld, temper: Temper): string {
  const name = random.pick(parts)
  switch (random.below(temper === 'wild' ? 9 : 5)) {
    case 0:
      return random.oneIn(2) ? `${name}=` : name
    case 1: // v1's filters, in any spelling
      return pair(random, anyCase(random, dimension(random)), random.pick(['', 'DE', 'Firefox', '/pricing']))
    case 2:
      return pair(random, name, (badPart[name] as Pick)(random, world))
    case 5:
      return `filter=${random.pick(['%', '%zz', '%C3', '%FF', 'page:is:%00', 'page%3Ais%3A%ED%A0%80'])}`
    case 6:
      return pair(random, random.pick(['filter', name]), random.pick(hostile))
    case 7:
      return pair(random, random.pick(['Filter', 'filter[]', 'BY', 'metrics[0]', '__proto__', 'limit[']), 'x')
    default:
      return pair(random, 'filter', badFilter(random))
  }
}

const texts: readonly string[] = ['/pricing', '/', 'a', 'é', ',', '\\', "o'neill", ':', '', ...hostile.slice(0, 24)]
const escaped = (value: string): string => value.replace(/[\\,]/g, '\\$&')

function goodFilter(random: Random, world: FuzzWorld): string {
  const name = dimension(random)
  const operator = random.pick(operators)
  const isExact = operator === 'is' || operator === 'is_not'
  const someValue = (): string => {
    if (name === 'goal') return goalOf(random, world)
    if (name === 'country' && isExact) return random.pick(['DE', 'fr', 'ZZ'])
    if (name === 'device' && isExact) return random.pick(['desktop', 'Mobile', 'unknown'])
    if (name === 'hostname' && isExact) return random.pick(['example.com', 'BÜCHER.example.', ''])
    return random.pick(texts)
  }
  const values = Array.from({ length: random.pick([1, 1, 1, 2, 5, random.oneIn(9) ? 101 : 100]) }, someValue)
  return `${name}:${operator}:${values.map(escaped).join(',')}`
}

const badFilter = (random: Random): string =>
  random.pick([
    ...[
      'page',
      'page:is',
      'page:is_:x',
      'page:IS:x',
      'path:is:/',
      ':is:x',
      '::',
      'prop:plan',
      'prop:plan:is',
      'page:is:\\',
    ],
    ...['page:is:a\\b', 'page:contains:', 'page:starts_with:a,', 'event:is:,a', 'goal:contains:S', 'country:is:UK'],
    ...['country:is:DEU', 'device:is:TV', 'hostname:is:a b', 'hostname:is:https://a.example', 'goal:is:Nothing'],
    ...["prop:'; DROP TABLE events:is:x", `prop:${'k'.repeat(61)}:is:x`, 'page:is:\u0000', 'page:regex:(a+)+$'],
  ])

/** Around the limit of 6,144 characters: eight filters with one-letter texts, each of which is looked for in every value. */
function longest(random: Random): string {
  const letters = () => Array.from({ length: 100 }, () => random.pick(['a', 'e', '/', '-', '1', '%C3%A9'])).join(',')
  const filters = ['page', 'referrer', 'entry_page', 'exit_page', 'event', 'prop:plan', 'utm_campaign', 'hostname'].map(
    (name) => `filter=${name}:${random.pick(['contains', 'starts_with'])}:${letters()}`,
  )
  const query = [`by=${dimension(random)}`, ...filters].join('&')
  const length = random.pick([6_000, 6_143, 6_144, 6_400])
  return `${query}&x=${'y'.repeat(Math.max(0, length - query.length - 3))}`
}
