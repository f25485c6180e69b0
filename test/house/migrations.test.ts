import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { checksumsPath, migrationFaults } from './migrations.ts'
import { read, readAll, tree } from './tree.ts'

/**
 * What databases out there were made of when upgrades were promised (decision D-226). SHA256SUMS can be written again together with
 * an edited file; this list is written once, and nothing in it ever changes.
 */
const frozen: Readonly<Record<string, string>> = {
  'migrations/clickhouse/0001_baseline.sql': 'b6f180ef96166946a75fbd306ab53d97b093fdd5e8f4237c1117716caf6fff24',
  'migrations/clickhouse/0002_deduplication.sql': '69cc0e6924b7eecfd727be4e64debe588c1bfbc1335d25f23fe2fff0bd84ecec',
  'migrations/clickhouse/0003_ledger.sql': 'efb0949a5add6c2d874a02eb100875e9c237b2e8e1b539a2142e09c1c5d0c726',
  'migrations/clickhouse/0004_visits.sql': '0c4057f7860e1972c6031eda0aff2febfc060e1e667f97bbe36620b99d34b804',
  'migrations/clickhouse/0005_low_cardinality.sql': '195bc05c77172b1332a5625e0058a11c2d6d64dab5f303882b3d7ce26c70f831',
  'migrations/postgres/0001_baseline.sql': '59f6067dabc729e46eb540b12c28c843d91b51d4d28b173ba49c35e6ed965d56',
  'migrations/postgres/0002_console.sql': '54f25240ecd4fe908d90cee47710b08f75face49d3c5e549a4ff031a18645756',
  'migrations/postgres/0003_shared_links.sql': '2ced369f359d6d0dd4793f38631170d73affb25b5a4962c4e7e74bf594e38271',
  'migrations/postgres/0004_single_sign_on.sql': '68f836735d85b7fcd2855f00d06f374a32a41cd109db515f2085d51cfdd20da2',
  'migrations/postgres/0005_rollup_notices.sql': '3f103ef87d8135b5a0bf205d234bdc82d2526e10a509bd4a9152270db01fc53a',
  'migrations/postgres/0006_many_rollup_runs.sql': '70df9fbae4c9b3cb2ef061c13462e78442e43abcdfd6c7dc876208d1799a57e7',
  'migrations/postgres/0007_shards.sql': '8ed480d53dea485a79eaf8486a99aca5d97993034b1debd05f05659f5b9f4535',
  'migrations/postgres/0008_replica_gaps.sql': '94e3c3ed65d53baf8ce0ff885d31750e24d579c23aaed7a792f4a3a8f4773374',
  'migrations/postgres/0009_site_moves.sql': '808b58a91659a0622fb2c8c9f525b34406c9a6a8543ecab5e9ccfd9bd15a6046',
  'migrations/postgres/0010_epochs.sql': '41ecf36902147d64ad51685cba4d2b348b407b02075b94f1193223b03f29cf39',
  'migrations/postgres/0011_way_back.sql': 'b65618707883765c2a3133b92ee783d9c0e46d6e449c3fc1412fd6b37fb0b914',
  'migrations/postgres/0012_no_replica_gaps.sql': 'b28ada8be2ac643a40fb866e6709d79ba31670d18abb943881c3ec69b3deacba',
  'migrations/postgres/0013_new_keys.sql': 'b3f262523164bc125fb5b81175c4a195c92c94d9044efdfa438f65a0878dd9ea',
  'migrations/postgres/0014_identity_emails.sql': 'ed8c3b669975870cb18db2c82b8cf079a88adf48668750a1e23232b38e3d4f76',
  'migrations/postgres/0015_link_secret.sql': 'efe7e8b53a8fe727a8c95f08958a9b780e824156e0a62fae55ce8e88d69b2c3a',
  'migrations/postgres/0016_kept_days.sql': '4077fd4dd5dcfa96d8f25a3dce3ef72607e4bb5d6dabf505a9c771372a45b90f',
  'migrations/postgres/0017_mail.sql': '2079dc3ed73fa21284c050554c699726b293082095abe04a8f1806c0997c34d3',
  'migrations/postgres/0018_dropped_hits.sql': 'a70de1697aac3942c25c70808d740e834c5eb5c09d92f2d88ea5c76f7af85e96',
  'migrations/postgres/0019_goals.sql': '3fd8bbbc93c64a0c3bf00a0200f0448944ab6ddd986f8bd3de68856a4819d57b',
  'test/cluster/dumps/baseline/clickhouse.sql': '5b10b9be37f871d9fa4899cb2216ccceed2cb5f207cbc69f2b0adcb4756f1817',
  'test/cluster/dumps/baseline/key.txt': '4e271afc97c807f2c5de7a0b3ecad443f33907aa7d66f411a218b5ef600b5ccf',
  'test/cluster/dumps/baseline/postgres.sql': '433aba1f270d7ce751e6b96bf543ae30c3053b618365a424215bb9dc08340ea5',
}

test('the baseline, the migrations after it and the dump of the baseline are frozen', () => {
  const found = Object.keys(frozen).map((path) => [path, createHash('sha256').update(read(path)).digest('hex')])
  assert.deepEqual(Object.fromEntries(found), frozen)
})

test('no migration that has landed was edited or removed, and every new one is written down', () => {
  const files = new Map([...readAll()].filter(([path]) => /^migrations\/\w+\/\d/.test(path)))
  assert.ok(files.size >= 2)
  assert.deepEqual(migrationFaults(files, read(checksumsPath)), [])
})

test('a migration that was edited, removed or not written down is found, with what to do', () => {
  // printf 'CREATE TABLE a;' | sha256sum
  const sums = [
    '758c379cb82b3ab99156d1ac177bba218413f86302ed93d0019a7aeb5c5c5e7c  postgres/0001_a.sql',
    '0000000000000000000000000000000000000000000000000000000000000000  postgres/0002_b.sql',
    '0000000000000000000000000000000000000000000000000000000000000000  clickhouse/0001_c.sql',
  ].join('\n')
  const path = (name: string) => `migrations/${name}`
  const files = tree({
    [path('postgres/0001_a.sql')]: 'CREATE TABLE a;',
    [path('postgres/0002_b.sql')]: 'CREATE TABLE b;',
    [path('postgres/0003_d.sql')]: 'CREATE TABLE d;',
  })
  const restore = (name: string) =>
    `Restore it (git checkout main -- ${path(name)}) and write the change as a new file with the next number.`
  assert.deepEqual(migrationFaults(files, sums), [
    `${path('clickhouse/0001_c.sql')} has landed and is gone. ${restore('clickhouse/0001_c.sql')}`,
    `${path('postgres/0002_b.sql')} has landed and was edited: databases that have it would refuse it. ${restore('postgres/0002_b.sql')}`,
    `${path('postgres/0003_d.sql')} is new. When it is ready: (cd migrations && sha256sum postgres/0003_d.sql >> SHA256SUMS); then never edit it.`,
  ])
})
