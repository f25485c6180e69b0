import assert from 'node:assert/strict'
import { test } from 'node:test'
import { geometricMean, judge, rowsAllowed } from '../../../bench/scale/judge.ts'
import type { Cell, Compared } from '../../../bench/scale/latency.ts'
import type { Measured } from '../../../bench/scale/result.ts'

const cell = (changes: Partial<Cell> = {}): Cell => ({
  site: 'whale',
  report: 'overview',
  range: '12m',
  window: 'yesterday',
  filter: 'none',
  p10: 4,
  median: 5,
  times: 10,
  rows: 700,
  bytes: 10_000,
  memory: 1_000_000,
  needed: { rolledUp: 730, raw: 0 },
  ...changes,
})

const compared = (range: '30d' | '12m', rawMs: number): Compared => ({
  site: 'whale',
  report: 'overview',
  range,
  filter: 'none',
  rawMs,
  rawRows: 1_000_000,
  rolledUpMs: 10,
  same: true,
})

/** Everything is just within its limit. */
const sound: Measured = {
  measuredAt: '2026-11-15T00:00:00Z',
  machine: { cpu: 'any', cores: 2, memoryGiB: 8, steal: 0, busy: 0.5 },
  sizes: { whale: 100_000_000, tenth: 10_000_000, hundredth: 1_000_000, small: 12_000_000, smallSites: 1_000 },
  bytes: { raw: 5e9, rolledUp: 4.9e9, titles: 1e6, rollupRows: 1e8 },
  columns: { total: 31.9, byColumn: { pathname: 31.9 } },
  parts: { events: 2, short: 1, long: 1, granule: { events: 8_192, rolledUp: 2_048 } },
  rollups: {
    whale: { seconds: 600, cpuSeconds: 1_199 },
    small: { seconds: 60, cpuSeconds: 60 },
    today: { seconds: 1, cpuSeconds: 2 },
  },
  inserting: { events: 200_000, clickhouseMicroseconds: 2, senderMicroseconds: 5 },
  floor: { p10: 1, median: 1.2 },
  rounds: 10,
  cells: [
    cell(),
    cell({ report: 'pages', p10: 6 }),
    cell({ window: 'today', p10: 5 }),
    cell({ site: 'whale/100', p10: 2.1 }),
  ],
  compared: [compared('30d', 151), compared('12m', 1_001)],
  tiny: { ratio: 5, rollupRows: 0, events: 4_000 },
  limits: { asked: 288, slowestMs: 1_900, slowest: '', memory: 1024 ** 3, largest: '', refused: [] },
  throughput: {
    yesterday: { bare: 1_000, api: 801, cached: 5_001, failed: 0 },
    today: { bare: 1_000, api: 801, cached: 900, failed: 0 },
  },
  residentMiB: 500,
}

const shortOf = (changes: Partial<Measured>): string[] =>
  judge({ ...sound, ...changes })
    .filter(({ ok }) => ok === false)
    .map(({ name }) => name)

test('figures within every limit miss none, and each missed limit is named', () => {
  assert.deepEqual(shortOf({}), [])
  const missed: [Partial<Measured>, RegExp][] = [
    [{ cells: [cell({ p10: 5.01 })] }, /geometric mean of p10/],
    [{ cells: [cell({ p10: 1 }), cell({ report: 'geo', p10: 20.1 })] }, /slowest .* others/],
    [{ cells: [cell({ p10: 0.5 }), cell({ report: 'referrers', p10: 40.1 })] }, /slowest .* pages and referrers/],
    [{ cells: [cell({ failed: 'Timeout exceeded' })] }, /did not answer/],
    [{ cells: [cell({ rows: 50_000 })] }, /rows read/],
    [{ cells: [cell(), cell({ site: 'whale/100', p10: 1.9 })] }, /growth/],
    [{ compared: [compared('30d', 149), compared('12m', 1_001)] }, /raw events .* 30d/],
    [{ compared: [compared('30d', 151), compared('12m', 999)] }, /raw events .* 12m/],
    [{ compared: [{ ...compared('30d', 151), same: false }, compared('12m', 1_001)] }, /differ/],
    [{ limits: { ...sound.limits, slowestMs: 2_001 } }, /slowest accepted/],
    [{ limits: { ...sound.limits, memory: 1024 ** 3 + 1 } }, /memory/],
    [{ limits: { ...sound.limits, refused: ['pages: too much'] } }, /not answered/],
    [
      { throughput: { ...sound.throughput, today: { bare: 1_000, api: 799, cached: 900, failed: 0 } } },
      /cache off, end today/,
    ],
    [
      { throughput: { ...sound.throughput, yesterday: { bare: 1_000, api: 801, cached: 4_999, failed: 0 } } },
      /cache on, end yesterday/,
    ],
    [{ throughput: { ...sound.throughput, today: { bare: 1_000, api: 801, cached: 900, failed: 1 } } }, /under load/],
    [{ rollups: { ...sound.rollups, whale: { seconds: 600, cpuSeconds: 1_201 } } }, /rolling up/],
    [{ bytes: { ...sound.bytes, rolledUp: 5.1e9 } }, /bytes of rollups/],
    [{ columns: { ...sound.columns, total: 32.1 } }, /bytes of an event/],
  ]
  for (const [changes, name] of missed) {
    const short = shortOf(changes)
    assert.equal(short.length, 1, `${name}: ${short}`)
    assert.match(short[0] ?? '', name)
  }
})

test('limits for whales are not judged on a smaller site', () => {
  const sizes = { ...sound.sizes, whale: 1_000_000 }
  const slow = [compared('30d', 20), compared('12m', 20)]
  const rollups = { ...sound.rollups, whale: { seconds: 6, cpuSeconds: 60 } }
  assert.deepEqual(shortOf({ sizes, rollups, compared: slow, bytes: { ...sound.bytes, rolledUp: 6e9 } }), [])
})

test('rows may be read in whole granules: in each part one before a range and one after it', () => {
  const { parts } = sound
  assert.equal(rowsAllowed(cell({ report: 'geo', needed: { rolledUp: 100, raw: 0 } }), { parts }), 100 + 2 * 2_048)
  // Two excluded countries are two more grouping sets; half of today is read from both parts of the month.
  const query = cell({ report: 'geo', filter: 'excluded', needed: { rolledUp: 100, raw: 5_000 } })
  assert.equal(rowsAllowed(query, { parts }), 5_100 + 2 * 3 * 2_048 + 2 * 2 * 8_192)
})

test('the geometric mean of 2 and 8 is 4', () => {
  assert.equal(geometricMean([2, 8]).toFixed(9), '4.000000000')
})
