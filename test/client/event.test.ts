// `event` of the client, whose id is a part of the path.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { event, FootfallError } from '../../packages/client/v2.js'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

test('an event is found by its id, and whatever stands for an id stays one part of the path', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  const id = randomUUID()
  await world.record(pageview({ at: '2026-01-10T10:00:00Z', pathname: '/join', eventId: id }))
  const server = { url: `http://127.0.0.1:${world.api.port}`, key: world.key.text }
  const { data, rateLimit } = await event(server, { id, day: '2026-01-10' })
  assert.deepEqual([data.state, data.page, data.session?.referrer], ['counted', '/join', null])
  assert.ok(rateLimit)
  assert.equal((await event(server, { id })).data.state, 'unknown')
  for (const odd of ['../goals', 'x?day=2026-01-10', '%2F', ''])
    await assert.rejects(event(server, { id: odd }), (error) => error instanceof FootfallError && error.status === 400)
})
