// What a pattern of paths matches: in our own code, and in ClickHouse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { join, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { goalText, matchesPattern, patternExpression } from '../../src/traffic/goals.ts'
import { inTime } from '../support/in-time.ts'
import { runs } from '../support/property-runs.ts'
import { openStores } from '../support/stores.ts'

/** Whether each pattern matches its path, by ClickHouse. */
async function matchedByClickHouse(pairs: readonly (readonly [pattern: string, path: string])[]): Promise<boolean[]> {
  const { clickhouse } = await openStores()
  const columns = pairs.map(([pattern, path]) => sql`match(${text(path)}, ${text(patternExpression(pattern))})`)
  const [row] = await clickhouse.rows<{ matches: number[] }>(sql`SELECT [${join(columns, sql`, `)}] AS matches`)
  return row?.matches.map(Boolean) as boolean[]
}

test('* stays within a segment, ** does not, and /** at the end also stands for nothing', async () => {
  const cases: [pattern: string, matched: string[], others: string[]][] = [
    ['/pricing', ['/pricing'], ['/pricing/', '/Pricing', '/pricing2', '/a/pricing']],
    ['/', ['/'], ['/a', '']],
    ['/blog/**', ['/blog', '/blog/', '/blog/a', '/blog/a/b/'], ['/blogs', '/blo', '/a/blog']],
    ['/**', ['/', '/a', '/a/b', ''], []],
    ['/blog/*', ['/blog/', '/blog/a', '/blog/a.html'], ['/blog', '/blog/a/b', '/blog/a/']],
    ['/*/buy', ['/a/buy', '//buy'], ['/buy', '/a/b/buy']],
    ['/**/buy', ['/a/buy', '/a/b/buy', '//buy'], ['/buy']],
    ['/shop**', ['/shop', '/shops', '/shop/a/b'], ['/sho']],
    ['/a.b+c(d)|e', ['/a.b+c(d)|e'], ['/axb+c(d)|e', '/a.b', 'e']],
    ['/*/blog/**', ['/en/blog', '/en/blog/a/b'], ['/blog', '/en/fr/blog']],
    ['/line\nbreak/**', ['/line\nbreak/a\nb'], ['/line']],
  ]
  const pairs = cases.flatMap(([pattern, matched, others]) =>
    [...matched, ...others].map((path) => [pattern, path] as const),
  )
  const expected = cases.flatMap(([, matched, others]) => [...matched.map(() => true), ...others.map(() => false)])
  assert.deepEqual(
    pairs.map(([pattern, path]) => matchesPattern(pattern, path)),
    expected,
  )
  assert.deepEqual(await matchedByClickHouse(pairs), expected)
})

test('ClickHouse and our own code match the same paths', async () => {
  const piece = fc.constantFrom('/', '/', 'a', 'b', '*', '**', '.', '\\', '$', '(', 'ü')
  const ofPieces = (pieces: readonly string[]) => `/${pieces.join('')}`
  const pattern = fc.array(piece, { maxLength: 8 }).map(ofPieces)
  // A path that comes from the pattern matches often enough.
  const pair = pattern.chain((one) =>
    fc.tuple(
      fc.constant(one),
      fc.oneof(
        pattern,
        fc
          .array(fc.constantFrom('', 'a', 'ab', '/', 'a/b'), { minLength: 1, maxLength: 8 })
          .map((parts) => one.replace(/\*+/g, (_stars, offset: number) => parts[offset % parts.length] as string)),
      ),
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 20, maxLength: 20 }), async (pairs) => {
      assert.deepEqual(
        await matchedByClickHouse(pairs),
        pairs.map(([one, path]) => matchesPattern(one, path)),
      )
    }),
    runs(1_000),
  )
})

test('no pattern takes long, whatever the path', () => {
  const begun = performance.now()
  assert.equal(matchesPattern(`/${'**a'.repeat(10)}b`, `/${'a'.repeat(2_000)}`), false)
  inTime(performance.now() - begun < 1_000, 'a pattern of ten wildcards takes a second')
})

test('a goal in words', () => {
  assert.equal(goalText({ name: 'Blog', condition: { kind: 'path', pattern: '/blog/**' } }), 'Blog: pages /blog/**')
  assert.equal(
    goalText({ name: 'Pro', condition: { kind: 'event', event: 'Buy', property: { key: 'plan', value: 'pro' } } }),
    'Pro: event Buy with plan = pro',
  )
})
