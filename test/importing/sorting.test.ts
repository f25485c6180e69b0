import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import type { ImportedHit } from '../../src/importing/hit.ts'
import { openSorting } from '../../src/importing/sorting.ts'
import { seeded } from '../support/random.ts'

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('footfall-import-'))

test('hits come in the order of their times, those of the same time as they came, whatever fits into memory', async () => {
  const random = seeded('sorting')
  const before = leftovers()
  for (const [count, pieceSize] of [
    [0, 10],
    [10, 10],
    [11, 10],
    [1_000, 7],
    [5_000, 999],
    [500, 10_000],
  ] as const) {
    const hits = Array.from({ length: count }, (_, nth) => ({
      place: `0 ${nth}`,
      time: random.below(count / 3 + 1),
      url: new URL(`https://example.com/straße?${nth}`),
      title: `“${nth}”\n`,
    })) as ImportedHit[]
    const sorting = openSorting(pieceSize)
    for (const hit of hits) sorting.add(hit)
    const found = await Array.fromAsync(sorting.inOrderOfTime())
    sorting.close()
    const expected = hits.toSorted((one, other) => one.time - other.time)
    assert.deepEqual(
      found.map(({ place, title, url }) => [place, title, url.href]),
      expected.map(({ place, title, url }) => [place, title, url.href]),
    )
  }
  assert.deepEqual(leftovers(), before)
})
