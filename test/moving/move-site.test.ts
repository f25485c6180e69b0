// Moving a site to another shard: what is copied, who waits for whom, and what an interruption leaves behind.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { createGoal } from '../../src/accounts/goals.ts'
import { deleteSite } from '../../src/accounts/sites.ts'
import { eraseRows } from '../../src/erasure/job.ts'
import { csv } from '../../src/importing/formats/own.ts'
import { importFiles } from '../../src/importing/job.ts'
import { reportCollector, unconfirmedCollectors } from '../../src/moving/collectors.ts'
import { refuseRunningUploads } from '../../src/moving/copy.ts'
import type { Step } from '../../src/moving/move-site.ts'
import { cancelMove, holdSite, unfinishedMoves } from '../../src/moving/moves.ts'
import { whileOnItsShard } from '../../src/moving/writing.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { verifyLedger } from '../../src/rollups/ledger.ts'
import { declareRetention, dropRolledUpMonths, rollUpBeforeDropping } from '../../src/rollups/retention.ts'
import { beginRun, publishRun } from '../../src/rollups/runs.ts'
import { sweep } from '../../src/rollups/sweep.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { importDailySums, visitorsOfDays } from '../support/imported-sums.ts'
import { nothing, now, openMovingSite } from './moving-site.ts'

/** From May to yesterday; today is never rolled up. */
const days = ['2026-05-30', '2026-06-01', '2026-10-31', '2026-11-01', '2026-11-14', '2026-11-15']
const yesterday = '2026-11-14'
const allSteps: Step[] = ['copying', 'holding', 'comparing', 'changing', 'moved', 'released']

/** Until then, a process that stood still could erase a site that has come back. */
const twoMinutesLater = (postgres: Postgres) =>
  postgres`UPDATE deleted_sites SET erased_at = erased_at - interval '2 minutes'`

test('every answer is the same after a move, and the old copy is erased when no reader needs it', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, source, target, siteId, otherId } = site
  const goal = { name: 'Page one', condition: { kind: 'path', pattern: '/one' } } as const
  await createGoal(postgres, siteId, goal)
  await site.record(days)
  await site.record(days, { of: otherId })
  await site.rollUp(yesterday)
  await importDailySums({ postgres, clickhouse: source }, siteId, visitorsOfDays({ '2026-01-01': 3, '2026-01-02': 5 }))
  const [before, rows, others] = [await site.answers(), await site.rowsOn(source), await site.rowsOn(source, otherId)]
  assert.ok(rows.events === 18 && rows.imported_sums === 2 && (rows.long_rollups as number) > 0)
  const events = await site.eventsOn(source)
  for (const [column, value] of Object.entries(events[0] as object))
    assert.ok(!['', '0', '{}', '[]'].includes(`${typeof value === 'object' ? JSON.stringify(value) : value}`), column)

  const steps: Step[] = []
  assert.equal(await site.move({ onStep: (step) => void steps.push(step) }), 'moved')
  assert.deepEqual(steps, allSteps)
  const moved = await site.site()
  assert.deepEqual([moved.shard, moved.goals], [2, [goal]])
  assert.deepEqual(await site.rowsOn(target), rows)
  assert.deepEqual(await site.eventsOn(target), events)
  assert.deepEqual(await site.answers(), before)

  await eraseRows({ postgres, clickhouse: source })
  assert.deepEqual(await site.rowsOn(source), rows, 'readers may use the old copy for 20 minutes')
  await postgres`UPDATE deleted_sites SET erase_after = erase_after - interval '20 minutes'`
  await eraseRows({ postgres, clickhouse: source })
  await eraseRows({ postgres, clickhouse: target })
  assert.deepEqual(await site.rowsOn(source), nothing)
  assert.deepEqual(await site.rowsOn(source, otherId), others)
  assert.deepEqual(await site.answers(), before)

  // Back again: what is left of the first copy must not count.
  await site.record(['2026-11-15'], { on: target, hour: '11' })
  assert.equal(await site.move({ shard: 1 }), 'old copy', 'a process that erases it may still be at work')
  await twoMinutesLater(postgres)
  assert.equal(await site.move({ shard: 1 }), 'moved')
  assert.deepEqual(await site.rowsOn(source), await site.rowsOn(target))
  assert.equal(await site.pageviews(), 21 + 16)
  assert.equal(await site.move(), 'old copy')
  assert.equal((await postgres`SELECT FROM site_moves WHERE hold IS NOT NULL`).length, 0)
})

test('rows that change while the site is copied are copied again', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, source, target, siteId } = site
  await site.record(days)
  await site.rollUp(yesterday)
  await site.move({
    async onStep(step) {
      if (step !== 'holding') return
      // A late event for a day that is copied, whose rollup is replaced by another version, and an event of this hour.
      await site.record(['2026-06-01'], { hour: '10' })
      await invalidateDays(postgres, [{ siteId, day: '2026-06-01' }])
      await site.rollUp(yesterday)
      const [today, hour] = new Date().toISOString().split(/T|:/) as [string, string]
      await site.record([today], { hour })
      // A day that is no longer rolled up.
      await invalidateDays(postgres, [{ siteId, day: '2026-10-31' }])
      await sweep({ postgres, clickhouse: source }, '0 seconds')
    },
  })
  assert.deepEqual(await site.rowsOn(target), await site.rowsOn(source))
  assert.equal(await site.pageviews(), 21)
  const twice = await target.rows(
    sql`SELECT event_id FROM events WHERE site_id = ${text(siteId)} GROUP BY event_id HAVING count() > 1`,
  )
  assert.deepEqual(twice, [])
})

test('a move that ends at any step leaves the site complete, and can be continued or given up', async (t) => {
  for (const last of allSteps) {
    const site = await openMovingSite(t)
    const { postgres, source, target, siteId } = site
    await site.record(days)
    await site.rollUp(yesterday)
    const before = await site.answers()
    const end = (step: Step) => {
      if (step === last) throw new Error('The process ends here')
    }
    await assert.rejects(site.move({ onStep: end }), /ends here/)
    assert.equal((await postgres`SELECT FROM site_moves WHERE hold IS NOT NULL`).length, 0, `${last} leaves a hold`)
    const isMoved = last === 'moved' || last === 'released'
    assert.equal((await site.site()).shard, isMoved ? 2 : 1, last)
    assert.deepEqual(await site.answers(), before, last)
    assert.equal((await unfinishedMoves(postgres)).length, isMoved ? 0 : 1, last)
    if (isMoved) continue
    await site.record(['2026-11-15'], { hour: '11' })
    assert.equal(await site.move(), 'moved', last)
    assert.deepEqual(await site.rowsOn(target), await site.rowsOn(source), last)
    assert.equal(await site.pageviews(), 21)
    assert.equal(await cancelMove(postgres, siteId), false)
  }
})

test('a site stays where it is if its hold ended before the change', async (t) => {
  const site = await openMovingSite(t)
  const { postgres } = site
  await site.record(days)
  const moving = site.move({
    async onStep(step) {
      if (step === 'changing') await postgres`UPDATE site_moves SET hold = NULL`
    },
  })
  await assert.rejects(moving, /held back for too long/)
  assert.equal((await site.site()).shard, 1)
})

test('a site does not move while the upload of a process that was killed is still running', async (t) => {
  const site = await openMovingSite(t)
  const { source, target, siteId } = site
  await refuseRunningUploads(target, siteId)
  const endless = new PassThrough()
  const uploading = assert.rejects(target.upload('titles', endless, `move ${siteId}`), /Premature close/)
  const titles = sql`
    SELECT 'other' AS site_id, toString(number) AS pathname, '' AS country, (toDateTime64(0, 3, 'UTC'), '', '') AS latest
    FROM numbers(100000)`
  const content = await source.download(titles)
  content.pipe(endless, { end: false })
  const running = () =>
    target
      .rows(sql`SELECT 1 FROM system.processes WHERE query_id = ${text(`move ${siteId}`)}`)
      .then((rows) => rows.length)
  // ClickHouse begins when it has 256 kB. Before that, refuseRunningUploads would take the id, and the endless upload would be refused.
  await eventually(async () => assert.equal(await running(), 1))
  await assert.rejects(refuseRunningUploads(target, siteId), /is already running|same/i)
  endless.destroy()
  await uploading
  await eventually(() => refuseRunningUploads(target, siteId))
})

test('a move that is given up leaves nothing on the other shard', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, cluster, source, target, siteId } = site
  await site.record(days)
  await verifyLedger({ postgres, cluster }) // as each round of the process that rolls up
  await assert.rejects(
    site.move({
      onStep(step) {
        if (step === 'changing') throw new Error('The process ends here')
      },
    }),
  )
  assert.notDeepEqual(await site.rowsOn(target), nothing)
  assert.ok(await cancelMove(postgres, siteId))
  await eraseRows({ postgres, clickhouse: target })
  await eraseRows({ postgres, clickhouse: source })
  assert.deepEqual(await site.rowsOn(target), nothing)
  assert.equal(await site.pageviews(), 18)
  assert.equal((await unfinishedMoves(postgres)).length, 0)
  await twoMinutesLater(postgres)
  assert.equal(await site.move(), 'moved')
})

test('a site that is deleted while it moves is erased on both shards', async (t) => {
  for (const when of ['holding', 'changing', 'moved'] as const) {
    const site = await openMovingSite(t)
    const { postgres, source, target, siteId } = site
    await site.record(days)
    const moving = site.move({
      async onStep(step) {
        if (step === when) await deleteSite(postgres, siteId)
      },
    })
    if (when === 'moved') await moving
    else await assert.rejects(moving, /deleted|cancelled/)
    for (const clickhouse of [source, target]) {
      await eraseRows({ postgres, clickhouse })
      assert.deepEqual(await site.rowsOn(clickhouse), nothing, `${when}, shard ${clickhouse.shard}`)
    }
  }
})

test('rollups are written on the shard of the site only, and not while its events are held back', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, source, target, siteId } = site
  await site.record(days)
  const ranges = [['2026-11-14', '2026-11-14']] as const
  const before = await beginRun(postgres, siteId, 1, 'day', ranges)
  assert.ok(before)
  await site.move({
    async onStep(step) {
      if (step !== 'comparing') return
      assert.equal(await beginRun(postgres, siteId, 1, 'day', ranges), undefined)
      await assert.rejects(site.rollUp(yesterday), /moves to another shard/)
    },
  })
  assert.equal(await publishRun(postgres, before), false, 'a run from before the hold makes nothing readable')
  assert.equal(await beginRun(postgres, siteId, 1, 'day', ranges), undefined)
  await rollUpToday({ postgres, clickhouse: source }, siteId, 'UTC', now)
  assert.equal((await site.site()).coverage.today, null, 'today was counted on the old shard')
  await rollUpToday({ postgres, clickhouse: target }, siteId, 'UTC', now)
  assert.ok((await site.site()).coverage.today)
  await site.rollUp(yesterday)
  assert.equal(await site.pageviews(), 18)
  assert.deepEqual((await site.site()).coverage.versions.flatMap(({ days: some }) => some).length > 0, true)
})

test('a site moves only when every collector holds back its events, and a hold ends with its process', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, siteId } = site
  await site.record(days)
  const report = (id: string, holds: string[] = []) =>
    reportCollector(postgres, { id, host: 'test', shards: 2, holds, since: undefined })
  await report('one')
  await report('two')
  await assert.rejects(site.move({ confirmMs: 300 }), /have not confirmed.*one on test.*two on test/)
  assert.equal((await site.site()).shard, 1)

  const confirming = site.move({
    async onStep(step) {
      if (step !== 'holding') return
      setTimeout(async () => {
        const { placements } = await report('one')
        const hold = placements.find((one) => one.siteId === siteId)?.hold as string
        assert.ok(hold)
        await report('one', [hold])
        assert.deepEqual(
          (await unconfirmedCollectors(postgres, hold)).map(({ id }) => id),
          ['two'],
        )
        await report('two', [hold])
      }, 100)
    },
  })
  assert.equal(await confirming, 'moved')
  assert.deepEqual((await report('one')).placements, [{ siteId, shard: 2, hold: null }])
})

test('collectors end a hold that nobody works on', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, siteId } = site
  await site.record(days)
  const report = async () =>
    (await reportCollector(postgres, { id: 'one', host: 'test', shards: 2, holds: [], since: undefined })).placements
  await assert.rejects(
    site.move({
      onStep(step) {
        if (step === 'holding') throw new Error('The process ends here')
      },
    }),
  )
  await postgres`INSERT INTO leases (name, holder, expires_at) VALUES (${`move ${siteId}`}, gen_random_uuid(), now() + interval '1 hour')`
  const hold = await holdSite(postgres, siteId)
  assert.deepEqual(await report(), [{ siteId, shard: 1, hold }])
  await postgres`UPDATE leases SET expires_at = now() - interval '1 second' WHERE name = ${`move ${siteId}`}`
  assert.deepEqual(await report(), [{ siteId, shard: 1, hold: null }])
})

test('an import and a move of the same site wait for each other', async (t) => {
  const site = await openMovingSite(t)
  const { postgres, siteId } = site
  await site.record(days)
  await whileOnItsShard(postgres, siteId, async () => {
    await assert.rejects(site.move({ confirmMs: 300 }), /A command writes traffic/)
  })
  const order: string[] = []
  let importing: Promise<unknown> = Promise.resolve()
  await site.move({
    onStep(step) {
      if (step === 'comparing') importing = whileOnItsShard(postgres, siteId, async () => void order.push('import'))
      if (step === 'moved') order.push('moved')
    },
  })
  await importing
  assert.deepEqual(order, ['moved', 'import'])
})

test('a site that moves while retention rolls up keeps its history', async (t) => {
  const { postgres, source, target, cluster, move, record, pageviews } = await openMovingSite(t)
  await record(['2024-01-05', '2024-01-06', '2026-11-10'])
  assert.equal(await pageviews('2024-01'), 6)
  await declareRetention(postgres, '2024-10-01')
  // Retention visits the shard where the site will be; then the site moves there; then retention visits the shard where the site was.
  let moved: Promise<unknown> | undefined
  const left: ClickHouse = {
    ...source,
    async rowsPatiently(...given) {
      moved ??= move()
      await moved
      return source.rowsPatiently(...given)
    },
  }
  await rollUpBeforeDropping({ postgres, cluster: { ...cluster, shards: [target, left] } }, {})
  assert.deepEqual(
    await dropRolledUpMonths({ postgres, cluster }, '0 seconds'),
    [],
    'the next round visits all shards again',
  )
  await rollUpBeforeDropping({ postgres, cluster }, {})
  assert.deepEqual(await dropRolledUpMonths({ postgres, cluster }, '0 seconds'), ['202401'])
  assert.equal(await pageviews('2024-01'), 6)
})

/** Imports a file of two batches, one for each month. */
async function openImport(t: TestContext) {
  const moving = await openMovingSite(t)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-import-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'visits.csv')
  const visits = ['2026-09-01', '2026-10-01'].map((day) => `${day}T10:00:00Z,https://moving.example/,v`)
  writeFileSync(path, ['time,url,visitor', ...visits, ''].join('\n'))
  const countries = { countryOf: () => 'DE' as const }
  return {
    ...moving,
    async importInto(clickhouse: ClickHouse) {
      const { postgres, site } = moving
      const context = { postgres, clickhouse, countries, site: await site(), now, onProgress() {} }
      return importFiles([{ path, name: 'visits.csv', format: csv }], context)
    },
  }
}

test('a process that stood still before it erased the old copy does not erase a site that has moved back', async (t) => {
  const { postgres, source, siteId, record, move, pageviews, rowsOn } = await openMovingSite(t)
  await record(days)
  await move()
  await postgres`UPDATE deleted_sites SET erase_after = now()`
  const [began, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const standing: ClickHouse = {
    ...source,
    async run(...given) {
      began.resolve()
      await goesOn.promise
      return source.run(...given)
    },
  }
  const stoodStill = eraseRows({ postgres, clickhouse: standing }, 1)
  await began.promise
  await eraseRows({ postgres, clickhouse: source })
  assert.deepEqual(await rowsOn(source), nothing)
  await twoMinutesLater(postgres)
  assert.equal(await move({ shard: 1 }), 'moved')
  goesOn.resolve()
  await assert.rejects(stoodStill, /The process stood still/)
  assert.equal(await pageviews(), days.length * 3)
  assert.equal((await rowsOn(source, siteId)).events, days.length * 3)
})

test('an import that lost its lock does not go on after the site has moved, and nothing is lost or twice', async (t) => {
  const { source, target, move, importInto, pageviews } = await openImport(t)
  let batches = 0
  const left: ClickHouse = {
    ...source,
    async insert(...given) {
      if (given[0].startsWith('events ') && ++batches === 2) await move()
      return source.insert(...given)
    },
  }
  await assert.rejects(importInto(left), /moved to another shard\. Import the file again/)
  assert.equal(await pageviews(), 1)
  const { imported } = await importInto(target)
  assert.deepEqual([imported, await pageviews()], ['rest', 2])
})

test('an import into a site that is deleted meanwhile says so, and its events are erased', async (t) => {
  const { postgres, source, siteId, importInto, rowsOn } = await openImport(t)
  const left: ClickHouse = {
    ...source,
    async insert(...given) {
      await deleteSite(postgres, siteId)
      await eraseRows({ postgres, clickhouse: source })
      return source.insert(...given)
    },
  }
  await assert.rejects(importInto(left), /The site was deleted/)
  await eraseRows({ postgres, clickhouse: source })
  assert.deepEqual(await rowsOn(source), nothing)
})
