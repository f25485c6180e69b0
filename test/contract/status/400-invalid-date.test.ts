import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { noon, refused, reportNames } from '../vocabulary.ts'

const both = (start: string, end: string) => `range=custom&start=${start}&end=${end}`

const refusals: Record<string, string> = {
  'a start that is no calendar date': both('2026-02-29', '2026-03-01'),
  'an end that is no calendar date': both('2026-02-01', '2026-02-30'),
  'custom without start': 'range=custom&end=2026-02-01',
  'custom without end': 'range=custom&start=2026-02-01',
  'custom without either': 'range=custom',
  'a start after the end': both('2026-02-02', '2026-02-01'),
  'more than 100 years': both('1926-11-15', '2026-11-15'),
  'a start sent twice': `${both('2026-02-01', '2026-02-01')}&start=2026-02-01`,
  'an empty start': both('', '2026-02-01'),
  'a bad date that the range does not use': 'range=7d&start=yesterday',
}

for (const [fault, query] of Object.entries(refusals)) {
  test(`${fault} is refused on every endpoint`, async (t) => {
    const world = await openWorld(t, { now: noon })
    for (const name of reportNames) refused(await world.get(`/stats/${name}`, query), 400, 'invalid_date')
  })
}

test('an offset with an unescaped + is told to write %2B', async (t) => {
  const world = await openWorld(t, { now: noon })
  const messageOf = async (start: string) =>
    (await world.get('/stats/overview', both(start, '2026-03-01'))).json.error.message as string
  for (const start of ['2026-02-01T00:00:00+02:00', '20260201T0000+0200'])
    assert.equal(await messageOf(start), 'A + in an address means a space: write %2B in start.')
  assert.match(await messageOf('2026-02-01%2000:00'), /^start must be one existing date/)
  assert.equal((await world.get('/stats/overview', both('2026-02-01T00:00:00%2B02:00', '2026-03-01'))).status, 200)
})
