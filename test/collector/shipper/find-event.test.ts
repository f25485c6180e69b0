// An event on the disk of a collector is found beside the processes that use it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDeadLetters } from '../../../src/collector/shipper/dead-letters.ts'
import { findInSpool } from '../../../src/collector/shipper/find-event.ts'
import { keyOf, openShipped } from '../../../src/collector/shipper/shipped.ts'
import { openSpool } from '../../../src/collector/spool/spool.ts'
import { eventOf, pageview } from '../../support/events.ts'

const siteId = 'site_aaaaaaaaaaaaaaaa'

function newEvent() {
  const event = eventOf(pageview({ at: '2026-03-14T12:00:00Z', eventId: randomUUID() }), siteId, 'UTC')
  return { event, asked: { siteId, eventId: event.eventId } }
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-find-event-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('an event in the spool is found while the collector writes there, for its own site only', async (t) => {
  const folder = folderOf(t)
  assert.equal(findInSpool(join(folder, 'none'), newEvent().asked), undefined)
  const spool = await openSpool({ folder, maxBytes: 1e9 })
  t.after(() => spool.close())
  const { event, asked } = newEvent()
  const others = Array.from({ length: 50 }, () => ({ event: newEvent().event, shard: 1, isRepeatable: false }))
  await spool.append([...others, { event, shard: 1, isRepeatable: true }])
  assert.deepEqual(findInSpool(folder, asked)?.state, 'spooled')
  assert.deepEqual(findInSpool(folder, { ...asked, siteId: 'site_bbbbbbbbbbbbbbbb' }), {
    state: 'nothing',
    isWhole: true,
  })
  assert.deepEqual(findInSpool(folder, newEvent().asked), { state: 'nothing', isWhole: true })

  // Of a large spool only the newest events are looked at, and the answer says so.
  await spool.append(others)
  assert.deepEqual(findInSpool(folder, asked, 1_000), { state: 'nothing', isWhole: false })
})

test('an event that was shipped in the last hour is known, and so is one that ClickHouse refused', (t) => {
  const folder = folderOf(t)
  const shipped = openShipped(folder)
  const letters = openDeadLetters(folder)
  t.after(() => {
    shipped.close()
    letters.close()
  })
  const [sent, refused] = [newEvent(), newEvent()]
  const batch = [newEvent().event, sent.event, newEvent().event]
  shipped.keep(randomUUID(), batch.map(keyOf), batch)
  letters.put(JSON.stringify({ event: refused.event, isRepeatable: true }), 'Cannot parse it')
  assert.equal(findInSpool(folder, sent.asked)?.state, 'shipped')
  assert.equal(findInSpool(folder, { ...sent.asked, siteId: 'site_bbbbbbbbbbbbbbbb' })?.state, 'nothing')
  assert.equal(findInSpool(folder, refused.asked)?.state, 'refused')
})
