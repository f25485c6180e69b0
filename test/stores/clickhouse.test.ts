import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Unavailable } from '../../src/stores/breaker.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { openStores } from '../support/stores.ts'

test('a schema change distinguishes a ClickHouse that is down from one that refuses', async () => {
  const { clickhouse } = await openStores()
  const nobody = openClickHouse('http://footfall:footfall@127.0.0.1:1/footfall')
  await assert.rejects(nobody.command('SELECT 1'), Unavailable)
  await assert.rejects(clickhouse.command('CREATE TABLE'), (error: Error) => !(error instanceof Unavailable))
  await nobody.close()
})
