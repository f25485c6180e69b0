// What operators are told of recounted answers: `footfall doctor`, `footfall rollup differences` and the metrics.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { startApiProcess } from '../support/api-process.ts'
import { install, runFootfall } from '../support/installation.ts'
import { connect, disconnect } from '../support/stores.ts'

test('doctor, rollup differences and metrics say how many answers were recounted and which differed', async (t) => {
  const installation = await install({})
  const stores = connect(installation.addresses)
  t.after(async () => {
    await disconnect(stores)
    await installation.remove()
  })
  const { postgres } = stores
  const run = async (...words: string[]) => (await runFootfall(words, installation.environment)).stdout
  const recount = async () => {
    const findings = JSON.parse(await run('doctor', '--json')) as { check: string; state: string; found: string }[]
    return findings.find(({ check }) => check === 'Recount')
  }
  assert.match((await recount())?.found ?? '', /^no answer was recounted yet/)
  assert.equal((await run('rollup', 'differences')).trim(), 'No answer differed.')

  const accountId = await createAccount(postgres, { name: 'Recounted', plan: 'Free' })
  const siteId = await createSite(postgres, { accountId, domain: 'recounted.example' })
  // Of these ten days retention has dropped the events of the first four.
  await postgres`INSERT INTO rollup_coverage (site_id, version, days) VALUES (${siteId}, 1, '{[2026-01-28,2026-02-07)}')`
  await postgres`UPDATE retention SET events_from = '2026-02-01'`
  await postgres`
    INSERT INTO recount_shards (shard, since, visited_at, days, empty_days, answers)
    VALUES (1, '2026-11-01T10:00:00Z', '2026-11-19T10:00:00Z', 1000, 7, 31000)`
  assert.deepEqual(await recount(), {
    check: 'Recount',
    state: 'ok',
    found:
      '31,000 answers about 1,000 days recounted from events since 2026-11-01, the last at 2026-11-19 10:00 UTC; left out: 7 days without events, 4 whose events retention dropped, and 0 imported as daily sums; none differed',
  })

  await postgres`UPDATE recount_shards SET differences = 3`
  await postgres`
    INSERT INTO recount_differences (site_id, day, question, request, found_at, differing, recounted, answered)
    VALUES (${siteId}, '2026-02-03', '{}', '/api/v1/stats/pages?range=custom', '2026-11-18T09:00:00Z',
      '[{"row": "/offer", "recounted": {"views": 1200, "visitors": 3}, "answered": null}]', 'SELECT 1', 'SELECT 2')`
  const open = await recount()
  assert.equal(open?.state, 'failed')
  assert.match(open.found, /; 3 differed, and 1 still do$/)
  const table = await run('rollup', 'differences', '--site', 'recounted.example')
  assert.match(
    table,
    /recounted\.example +2026-11-18 09:00 +not yet +\/offer +views 1,200, visitors 3 +no row +\/api\/v1/,
  )
  const [kept] = JSON.parse(await run('rollup', 'differences', '--json'))
  assert.deepEqual([kept.recounted, kept.answered], ['SELECT 1', 'SELECT 2'])

  const api = await startApiProcess(installation.addresses)
  t.after(() => api.stop())
  const shown = async () => {
    const text = await (await fetch(api.metricsUrl)).text()
    return ['answers_total', 'differences_total', 'differences_open'].map((name) =>
      Number(new RegExp(`^footfall_recount(?:ed)?_${name} (\\S+)$`, 'm').exec(text)?.[1]),
    )
  }
  assert.deepEqual(await shown(), [31_000, 3, 1])

  await postgres`UPDATE recount_differences SET repaired_at = now()`
  const repaired = await recount()
  assert.equal(repaired?.state, 'warning')
  assert.match(repaired.found, /; 3 differed and were repaired$/)
})
