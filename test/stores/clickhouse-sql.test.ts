import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { date, instant, join, render, type Sql, sql, text, texts, uint } from '../../src/stores/clickhouse-sql.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/property-runs.ts'
import { openStores } from '../support/stores.ts'

describe('the text of a statement', () => {
  test('a value becomes a typed parameter and never text', () => {
    assert.deepEqual(render(sql`SELECT ${text("a'b")}, ${uint(7)}, ${texts(['x', 'y'])}, ${date('2026-03-14')}`), {
      text: 'SELECT {p0:String}, {p1:UInt64}, {p2:Array(String)}, {p3:Date}',
      parameters: { p0: "a'b", p1: 7, p2: ['x', 'y'], p3: '2026-03-14' },
    })
  })

  test('an instant keeps its milliseconds, before the epoch too', () => {
    const written = [0, 1, 999, 1_773_500_966_535, -1, -1500].map((at) => render(sql`${instant(at)}`).parameters.p0)
    assert.deepEqual(written, ['0.000', '0.001', '0.999', '1773500966.535', '-0.001', '-1.500'])
  })

  test('a plain value neither compiles nor runs', () => {
    const planted: (() => Sql)[] = [
      // @ts-expect-error a string is not a parameter
      () => sql`SELECT ${'1; DROP TABLE events'}`,
      // @ts-expect-error a number is not a parameter
      () => sql`SELECT ${1}`,
      // @ts-expect-error a list is not a parameter
      () => sql`SELECT ${['a']}`,
      // @ts-expect-error nothing is not a parameter
      () => sql`SELECT ${undefined}`,
      // @ts-expect-error null is not a parameter
      () => sql`SELECT ${null}`,
      // @ts-expect-error an object that looks like a parameter is not one
      () => sql`SELECT ${{ type: 'String', value: 'a' }}`,
      // @ts-expect-error a rendered statement is not a fragment
      () => sql`SELECT ${render(sql`1`)}`,
    ]
    for (const plant of planted) assert.throws(plant, TypeError)
  })

  test('a parameter from JSON is refused: only our own functions create parameters', () => {
    const forged = JSON.parse(JSON.stringify(text('a'))) as ReturnType<typeof text>
    assert.throws(() => sql`SELECT ${forged}`, TypeError)
  })

  test('fragments nest to any depth, and read as if written in one piece', () => {
    const inner = sql`country = ${text('DE')}`
    const middle = sql`(${inner} OR ${sql`device = ${text('Mobile')}`})`
    assert.deepEqual(render(sql`SELECT 1 WHERE ${middle} AND ${inner} LIMIT ${uint(3)}`), {
      text: 'SELECT 1 WHERE (country = {p0:String} OR device = {p1:String}) AND country = {p0:String} LIMIT {p2:UInt64}',
      parameters: { p0: 'DE', p1: 'Mobile', p2: 3 },
    })
    assert.equal(render(join([sql`a`, sql`b`, sql`c`], sql` AND `)).text, 'a AND b AND c')
    assert.equal(render(join([sql`a`], sql` AND `)).text, 'a')
  })

  test('equal values of one type share a parameter; of two types they do not', () => {
    const { text: written, parameters } = render(
      sql`${text('1')} ${uint(1)} ${text('1')} ${texts(['1'])} ${texts(['1'])} ${text('["1"]')} ${date('1')}`,
    )
    assert.equal(
      written,
      '{p0:String} {p1:UInt64} {p0:String} {p2:Array(String)} {p2:Array(String)} {p3:String} {p4:Date}',
    )
    assert.deepEqual(parameters, { p0: '1', p1: 1, p2: ['1'], p3: '["1"]', p4: '1' })
  })

  test('the text does not depend on the values', () => {
    const shape = (one: string, list: string[]) => render(sql`${text(one)} ${texts(list)}`).text
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.array(fc.string({ unit: anyCharacter })), (one, list) => {
        assert.equal(shape(one, list), '{p0:String} {p1:Array(String)}')
      }),
    )
  })
})

const hostile = [
  '',
  ' ',
  "'",
  '"',
  '`',
  '\\',
  '\\\\',
  "\\'",
  '\\N',
  '\\x41',
  '\\0',
  '\0',
  'a\0b',
  '\t',
  '\n',
  '\r\n',
  '\b\f\v\u001b\u007f\u0085',
  '{x:String}',
  '{p0:String}',
  '$' + '{x}',
  "' OR 1=1 --",
  "'; DROP TABLE events; --",
  '/* */ -- #',
  '%00 %27 %5C + & = ? #',
  '[]',
  "['a','b']",
  "',",
  '(1, 2)',
  'NULL',
  'null',
  '123',
  '\u202e\u200f\u2066 right to left',
  '\ufeff',
  '\ufffd\uffff\ufffe',
  'é', // composed
  'e\u0301', // and not
  '😀👩‍👩‍👧‍👦🇩🇪',
  '\u{10ffff}',
  `5 kB ${"x'\\\t😀".repeat(640)}`,
]

describe('values come back unchanged from ClickHouse', () => {
  const echo = async (values: readonly string[]) => {
    const { clickhouse } = await openStores()
    const columns = join(
      values.map((value) => sql`${text(value)}`),
      sql`, `,
    )
    const [row] = await clickhouse.rows<{ single: string[]; list: string[] }>(
      sql`SELECT [${columns}] AS single, ${texts(values)} AS list`,
    )
    return row
  }

  for (const value of hostile) {
    test(`${JSON.stringify(value.slice(0, 40))}, alone and in a list`, async () => {
      const { clickhouse } = await openStores()
      const [row] = await clickhouse.rows(
        sql`SELECT ${text(value)} AS single, ${texts([value, 'b', value])} AS list, length(${text(value)}) AS bytes,
          ${text(value)} = ${texts(['b', value])}[2] AS same`,
      )
      assert.deepEqual(row, { single: value, list: [value, 'b', value], bytes: Buffer.byteLength(value), same: 1 })
    })
  }

  test('any strings, many at once', async () => {
    const strings = fc.array(
      fc.oneof(
        fc.string({ unit: anyCharacter, maxLength: 50 }),
        fc.string({ unit: fc.constantFrom("'", '\\', '\t', '\n', '\0', '{', '}', ',', '[', ']', 'x', '"') }),
      ),
      { minLength: 1, maxLength: 20 },
    )
    await fc.assert(
      fc.asyncProperty(strings, async (values) => {
        assert.deepEqual(await echo(values), { single: values, list: values })
      }),
      runs(150),
    )
  })

  test('numbers, dates and instants', async () => {
    const { clickhouse } = await openStores()
    const at = Date.parse('2026-03-14T15:09:26.535Z')
    const [row] = await clickhouse.rows(
      sql`SELECT ${uint(0)} AS zero, ${uint(Number.MAX_SAFE_INTEGER)} AS most, ${date('1970-01-01')} AS first,
        ${date('2026-03-14')} AS day, toString(${instant(at)}) AS time, toUnixTimestamp64Milli(${instant(at)}) AS back,
        toUnixTimestamp64Milli(${instant(0)}) AS epoch, ${texts([])} AS none`,
    )
    assert.deepEqual(row, {
      zero: 0,
      most: Number.MAX_SAFE_INTEGER,
      first: '1970-01-01',
      day: '2026-03-14',
      time: '2026-03-14 15:09:26.535',
      back: at,
      epoch: 0,
      none: [],
    })
  })
})
