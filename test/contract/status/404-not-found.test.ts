import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { refused } from '../vocabulary.ts'

const unknown = [
  '/',
  '/api/v1',
  '/api/v1/',
  '/api/v1/stats',
  '/api/v1/stats/',
  '/api/v1/stats/nope',
  '/api/v1/stats/Overview',
  '/api/v1/stats/overview/',
  '/api/v1/stats/overview/x',
  '/api/v1//stats/overview',
  '/API/v1/stats/overview',
  '/stats/overview',
  '/api/stats/overview',
  '/api/v2/stats/overview',
  '/api/v1/stats/constructor',
  '/metrics',
  `/${'a/'.repeat(500)}`,
]

test('an unknown path is refused in the error envelope, with and without a key', async (t) => {
  const world = await openWorld(t)
  const headers = { Authorization: `Bearer ${world.key.text}` }
  for (const path of unknown) {
    refused(await world.api.fetch(path), 404, 'not_found')
    refused(await world.api.fetch(path, { headers }), 404, 'not_found')
  }
})

test('the message links to the documentation, and the link works', async (t) => {
  const { api } = await openWorld(t)
  const [path] = /\/\S+[^.\s]/.exec((await api.fetch('/api/v1/stats/visitors')).json.error.message) ?? []
  const page = await api.fetch(path as string)
  assert.equal(page.status, 200)
  assert.match(page.text, /\/api\/v1\/stats\/overview/)
})

test('a path with a slash too many gets the path without it', async (t) => {
  const { api } = await openWorld(t)
  const messageAt = async (path: string) => (await api.fetch(path)).json.error.message as string
  assert.equal(
    await messageAt('/api/v1/stats/overview/?range=7d'),
    'There is nothing here. Leave out the slash at the end: /api/v1/stats/overview.',
  )
  assert.match(await messageAt('/api/v1/sites//'), /: \/api\/v1\/sites\.$/)
  for (const path of ['/api/v1/stats/nope/', '/', '/api/v1/stats/overview/x/'])
    assert.match(await messageAt(path), /described at \/api\/v1\/docs/, path)
})

test('an unknown path returns 404 for any method and any body', async (t) => {
  const { api } = await openWorld(t)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    refused(await api.fetch('/api/v1/nope', { method, body: '{{{' }), 404, 'not_found')
  const head = await api.fetch('/api/v1/nope', { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [404, ''])
})

test('the version is part of the path: only /api/v1 exists', async (t) => {
  const world = await openWorld(t)
  assert.equal((await world.get('/stats/overview')).status, 200)
  for (const version of ['v0', 'v2', 'v1.0', 'V1', '1'])
    refused(await world.api.fetch(`/api/${version}/stats/overview`), 404, 'not_found')
})
