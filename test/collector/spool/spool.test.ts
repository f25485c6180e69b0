import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSpoolFile } from '../../../src/collector/spool/files.ts'
import { GroupTooLarge, openSpool } from '../../../src/collector/spool/spool.ts'
import { eventOf } from '../../support/events.ts'

test('events of one request that fit into no group are refused for good, and the next request is stored', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const spool = await openSpool({ folder, maxBytes: 64 * 1024 * 1024 })
  t.after(() => spool.close())
  const event = eventOf({ at: '2026-11-15T12:00:00Z' }, 'site', 'UTC')
  const tooLong = { ...event, title: 'x'.repeat(4 * 1024 * 1024) }
  await assert.rejects(spool.append([{ shard: 1, event: tooLong, isRepeatable: false }]), GroupTooLarge)
  await spool.append([{ shard: 1, event, isRepeatable: false }])
})

test('events for several shards are stored together, each with its own shard', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const spool = await openSpool({ folder, maxBytes: 64 * 1024 * 1024 })
  const spooled = (shard: number, siteId: string) => ({
    shard,
    event: eventOf({ at: '2026-11-15T12:00:00Z' }, siteId, 'UTC'),
    isRepeatable: false,
  })
  await Promise.all([
    spool.append([spooled(1, 'a'), spooled(2, 'b'), spooled(1, 'c')]),
    spool.append([spooled(1, 'd')]),
    spool.append([spooled(2, 'e')]),
  ])
  await spool.close()
  const file = openSpoolFile(folder, 1)
  t.after(() => file.close())
  const rows = file.prepare('SELECT shard, events, lines FROM groups ORDER BY number').all() as {
    shard: number
    events: number
    lines: string
  }[]
  const found = rows.map(({ shard, events, lines }) => {
    const sites = lines.split('\n').map((line) => JSON.parse(line).event.siteId as string)
    assert.equal(events, sites.length)
    return { shard, sites }
  })
  const sitesOf = (asked: number) => found.filter(({ shard }) => shard === asked).flatMap(({ sites }) => sites)
  assert.deepEqual(
    [sitesOf(1), sitesOf(2)],
    [
      ['a', 'c', 'd'],
      ['b', 'e'],
    ],
  )
})
