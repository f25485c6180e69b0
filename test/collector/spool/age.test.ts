import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSpoolAge } from '../../../src/collector/spool/age.ts'
import { openSpoolFile, removeSpoolFile, spoolFilePath } from '../../../src/collector/spool/files.ts'

test('the oldest time comes from the oldest file with an event, even when files appear, vanish or are unreadable', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const age = openSpoolAge(folder)
  t.after(() => age.close())
  assert.equal(age.oldest(), undefined)
  const [older, newer] = [openSpoolFile(folder, 1), openSpoolFile(folder, 2)]
  t.after(() => newer.close())
  const store = (file: typeof older, number: number, time: number) => {
    // A page may have any name.
    const line = JSON.stringify({ event: { pathname: '/"time":1', title: '"time":2', time }, isRepeatable: true })
    file
      .prepare('INSERT INTO groups (number, shard, events, lines) VALUES (?, 1, 2, ?)')
      .run(number, `${line}\n${line}`)
  }
  assert.equal(age.oldest(), undefined)
  store(newer, 1, 2_000)
  assert.equal(age.oldest(), 2_000)
  store(older, 1, 1_000)
  store(older, 2, 1_500)
  assert.equal(age.oldest(), 1_000)
  older.exec('DELETE FROM groups WHERE number = 1')
  assert.equal(age.oldest(), 1_500)
  older.close()
  removeSpoolFile(folder, 1)
  assert.equal(age.oldest(), 2_000)
  mkdirSync(spoolFilePath(folder, 1)) // cannot be opened, like a file that the shipper removes at this instant
  assert.equal(age.oldest(), 2_000)
  rmSync(spoolFilePath(folder, 1), { recursive: true })
  newer.exec('UPDATE groups SET kept = 1') // shipped, and kept until a second replica has it
  assert.equal(age.oldest(), undefined)
  newer.exec('DELETE FROM groups')
  assert.equal(age.oldest(), undefined)
})
