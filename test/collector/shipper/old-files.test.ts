// A spool that an earlier version of Footfall wrote.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { spoolFilePath } from '../../../src/collector/spool/files.ts'
import { at, ids, openShipper } from './own-shipper.ts'

test('events that an earlier version left in the spool are shipped, a planned batch as it was', async (t) => {
  const { folder, taken, ship, stored } = await openShipper(t)
  const events = ['10:00:00', '10:00:01', '10:00:02'].map((time) => taken({ at: at(time) }))
  // The tables before there were shards.
  const file = new DatabaseSync(spoolFilePath(folder, 1))
  file.exec(`
    CREATE TABLE groups (number INTEGER PRIMARY KEY, events INTEGER NOT NULL, lines TEXT NOT NULL) STRICT;
    CREATE TABLE batch (id TEXT NOT NULL, last_group INTEGER NOT NULL) STRICT;
    INSERT INTO batch VALUES ('0e5b4bd6-5b55-4c0f-9c4a-6c0a4d1c9a11', 2);`)
  const add = file.prepare('INSERT INTO groups (events, lines) VALUES (1, ?)')
  for (const { event, isRepeatable } of events) add.run(JSON.stringify({ event, isRepeatable }))
  file.close()

  assert.equal((await ship())?.events, 2)
  assert.equal((await ship())?.events, 1)
  assert.equal(await ship(), undefined)
  assert.deepEqual((await stored()).map(({ event_id }) => event_id).sort(), ids(events))
})
