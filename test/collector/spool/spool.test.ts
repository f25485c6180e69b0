import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GroupTooLarge, openSpool } from '../../../src/collector/spool/spool.ts'
import { eventOf } from '../../support/events.ts'

test('events of one request that fit into no group are refused for good, and the next request is stored', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const spool = await openSpool({ folder, mostBytes: 64 * 1024 * 1024 })
  t.after(() => spool.close())
  const event = eventOf({ at: '2026-11-15T12:00:00Z' }, 'site', 'UTC')
  const tooLong = { ...event, title: 'x'.repeat(4 * 1024 * 1024) }
  await assert.rejects(spool.append([{ event: tooLong, isRepeatable: false }]), GroupTooLarge)
  await spool.append([{ event, isRepeatable: false }])
})
