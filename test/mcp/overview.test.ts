import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type ErrorCode } from '../../src/errors.ts'
import { overview } from '../../src/mcp/tools/overview.ts'
import type { StatsSource } from '../../src/stats/source.ts'

const site = { id: 'site_aaaaaaaaaaaaaaaa', domain: 'example.com', timeZone: 'UTC' }

/** Refuses every question with one of these, and answers it without its comparison. */
const run = (code: ErrorCode) => {
  const source: StatsSource = {
    sites: async () => [site],
    async ask(_kind, _siteId, fields) {
      if (fields.some(([name]) => name === 'compare')) throw new ApiError(code, 'No.')
      const period = '2026-11-01T00:00:00+00:00/2026-11-08T00:00:00+00:00'
      return {
        data: { visitors: 7 },
        period,
        previousPeriod: undefined,
        totalRows: undefined,
        warnings: [],
        filters: [],
      }
    },
  }
  return overview.run({}, { source, now: Date.parse('2026-11-18T11:00:00Z'), signal: new AbortController().signal })
}

test('only what the days before are the reason of is asked again without them', async () => {
  const { text } = await run('range_not_kept')
  assert.match(
    text,
    /^Note: there is no comparison, because single visits of the days before are no longer kept\.\nvisitors: 7$/m,
  )
  assert.match((await run('query_too_expensive')).text, /^Note: there is no comparison, .* too long\.\nvisitors: 7$/m)
  await assert.rejects(run('invalid_filter'), { code: 'invalid_filter' })
})
