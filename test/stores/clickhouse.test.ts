import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
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

test('an upload ends when its input is destroyed, also one that ClickHouse has refused or not yet begun', async () => {
  const { clickhouse } = await openStores()
  const unused = new PassThrough().destroy()
  await assert.rejects(clickhouse.upload('titles', unused), /Premature close/)
  const content = new PassThrough()
  const waiting = assert.rejects(clickhouse.upload('titles', content), /Premature close/)
  content.destroy()
  await waiting
  // ClickHouse reads the whole input before it answers, also when it has refused the upload.
  const refused = new PassThrough()
  const uploading = assert.rejects(clickhouse.upload('no such table', refused), /Premature close/)
  await new Promise<void>((resolve, reject) =>
    refused.write(Buffer.alloc(1_000_000), (error) => (error ? reject(error) : resolve())),
  )
  refused.destroy()
  await uploading
})
