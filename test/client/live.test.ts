// `live` of the client against the real API: messages as they come, refusals as errors, and an end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FootfallError, live } from '../../packages/client/v2.js'
import { deleteKey } from '../../src/accounts/keys.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { serve, serverOf } from './runners.ts'

const now = () => new Date(Date.now() - 500).toISOString()

test('messages come as they are sent, until the key is deleted', async (t) => {
  const world = await openWorld(t)
  await world.record(pageview({ at: now(), visitor: 'a', pathname: '/first' }))
  const seen: string[][] = []
  for await (const { data, meta } of live(serverOf(world), { site_id: world.siteId })) {
    assert.equal(meta.site_id, world.siteId)
    const pages = data.hits.map(({ page }) => page)
    seen.push(pages)
    if (pages.length === 1) await world.record(pageview({ at: now(), visitor: 'b', pathname: '/second' }))
    else await deleteKey(world.stores.postgres, world.key.id)
  }
  assert.deepEqual(seen[0], ['/first'])
  assert.deepEqual(seen.at(-1), ['/second', '/first'])
})

test('a loop that ends closes the stream, and so does a signal', async (t) => {
  const world = await openWorld(t)
  for (let number = 0; number < 12; number++) for await (const _ of live(serverOf(world))) break
  const controller = new AbortController()
  const reading = (async () => {
    for await (const _ of live(serverOf(world), {}, { signal: controller.signal })) controller.abort()
  })()
  await assert.rejects(reading, { name: 'AbortError' })
})

test('a refusal is an error, and so is an answer that is no stream', async (t) => {
  const world = await openWorld(t)
  const first = async (server: Parameters<typeof live>[0]) => {
    for await (const message of live(server)) return message
  }
  await assert.rejects(first({ ...serverOf(world), key: 'nonsense' }), (error: FootfallError) => {
    assert.ok(error instanceof FootfallError)
    assert.deepEqual([error.code, error.status], ['invalid_key', 401])
    return true
  })
  const url = await serve(t, (_request, response) => void response.end('{"data":{}}'))
  await assert.rejects(first({ url, key: 'any' }), { code: 'unexpected_response' })
})

test('a message about the stream itself is left out', async (t) => {
  const url = await serve(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.end('retry: 2000\n\nevent: unavailable\ndata: {}\n\n: nothing new\n\ndata: {"data":1}\n\n')
  })
  const messages = []
  for await (const message of live({ url, key: 'any' })) messages.push(message)
  assert.deepEqual(messages, [{ data: 1 }])
})
