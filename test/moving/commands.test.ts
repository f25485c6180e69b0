// footfall shard add, footfall site move and footfall collector, as operators run them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { reportCollector } from '../../src/moving/collectors.ts'
import { freshShards } from '../support/fresh-shards.ts'
import { runFootfall } from '../support/installation.ts'
import { keySecretsSetting } from '../support/serve-process.ts'
import { openMovingSite } from './moving-site.ts'

const footfallWith = (settings: Record<string, string>) => {
  const environment = { PATH: process.env.PATH ?? '', KEY_SECRETS: keySecretsSetting, ...settings }
  return (...words: string[]) => runFootfall(words, environment)
}

async function open(t: TestContext) {
  const site = await openMovingSite(t)
  await site.record(['2026-11-14', '2026-11-15'])
  return { ...site, footfall: footfallWith(site.settings) }
}

test('a site is moved with one command, and the way back waits for the erasure of the old copy', async (t) => {
  const { footfall, rowsOn, source, target, pageviews } = await open(t)
  const rows = await rowsOn(source)
  const moved = await footfall('site', 'move', 'moving.example', '2')
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(
    moved.stdout,
    /^Moved moving\.example from shard 1 to shard 2\. The old copy is erased in 20 minutes\.$/m,
  )
  assert.match(moved.stderr, /Copying\n.*hold back new events\n.*comparing\n/s)
  assert.deepEqual(await rowsOn(target), rows)
  assert.equal(await pageviews(), 6)
  const refused = [
    ['site', 'move', 'moving.example', '2'],
    ['site', 'move', 'moving.example', '1'],
    ['site', 'move', 'moving.example', '3'],
    ['site', 'move', 'moving.example', 'two'],
    ['site', 'move', 'moving.example'],
    ['site', 'move', 'moving.example', '--cancel'],
  ]
  const errors: string[] = []
  for (const words of refused) {
    const { code, stderr } = await footfall(...words)
    assert.equal(code, 1)
    errors.push((stderr.split('\n')[0] as string).replace('footfall: ', ''))
  }
  assert.deepEqual(errors, [
    'The site is already on this shard.',
    'The shard still has an old copy of the site, which is erased 20 minutes after the site has left it.',
    'There is no shard 3.',
    'There is no shard two.',
    'Which site, and to which shard?',
    'moving.example is not being moved.',
  ])
})

test('a move that was interrupted is shown, and can be given up', async (t) => {
  const { footfall, move } = await open(t)
  const end = () => {
    throw new Error('The process ends here')
  }
  await assert.rejects(move({ onStep: end }))
  const status = await footfall('shard', 'status')
  assert.match(status.stdout, /moving\.example is being moved to shard 2, and nothing works on it/)
  const elsewhere = await footfall('site', 'move', 'moving.example', '--cancel')
  assert.match(elsewhere.stdout, /^moving\.example stays on shard 1\.$/m)
  assert.doesNotMatch((await footfall('shard', 'status')).stdout, /moving\.example/)
})

test('a collector that does not answer is named, and forgotten when its spool is lost', async (t) => {
  const { footfall, postgres } = await open(t)
  assert.match((await footfall('collector', 'list')).stdout, /No collector is running/)
  await reportCollector(postgres, { id: 'coll_gone', host: 'web-3', shards: 2, holds: [], since: undefined })
  assert.match((await footfall('collector', 'list')).stdout, /^coll_gone +web-3 +2 +20/m)
  const unsure = await footfall('collector', 'forget', 'coll_gone')
  assert.deepEqual([unsure.code, /repeat it with --yes/.test(unsure.stderr)], [1, true])
  assert.equal((await footfall('collector', 'forget', 'coll_gone', '--yes')).code, 0)
  assert.match((await footfall('collector', 'forget', 'coll_gone', '--yes')).stderr, /There is no collector coll_gone/)
})

test('a new shard gets sites when it was added, and not before every collector knows it', async (t) => {
  const shards = await freshShards(1, (end) => t.after(end))
  const { postgres, cluster, settings } = shards
  const accountId = await createAccount(postgres, { name: 'Growing', plan: 'Agency' })
  await createSite(postgres, { accountId, domain: 'first.example' })
  const [[first]] = JSON.parse(settings.CLICKHOUSE_SHARDS) as [[string]]
  const second = `${first}_2`
  const [clickhouse] = cluster.shards
  const name = new URL(second).pathname.slice(1)
  await clickhouse?.command(`CREATE DATABASE ${name}`)
  const footfall = footfallWith({ ...settings, CLICKHOUSE_SHARDS: JSON.stringify([[first], [second]]) })

  assert.equal((await footfall('migrate')).code, 0)
  const used = async () => (await postgres`SELECT number FROM shards ORDER BY number`).map(({ number }) => number)
  assert.deepEqual(await used(), [1], 'other processes may not know the second shard yet')
  assert.match((await footfall('shard', 'status')).stdout, /Shard 2 gets no sites yet/)
  await reportCollector(postgres, { id: 'coll_old', host: 'web-1', shards: 1, holds: [], since: undefined })
  assert.match((await footfall('shard', 'add')).stderr, /Not every collector knows the new shard: coll_old on web-1/)
  assert.deepEqual(await used(), [1])
  await reportCollector(postgres, { id: 'coll_old', host: 'web-1', shards: 2, holds: [], since: undefined })
  assert.match((await footfall('shard', 'add')).stdout, /^Added shard 2\./m)
  assert.deepEqual(await used(), [1, 2])
  assert.match((await footfall('shard', 'add')).stdout, /Every shard of CLICKHOUSE_SHARDS is in use/)
  await clickhouse?.command(`DROP DATABASE ${name}`)
})
