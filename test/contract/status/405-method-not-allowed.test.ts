import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { sendRaw } from '../raw.ts'
import { refused, reportNames } from '../vocabulary.ts'

test('every endpoint refuses other methods and lists the allowed ones, before it checks the key or the body', async (t) => {
  const world = await openWorld(t)
  for (const name of reportNames)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      for (const headers of [{}, { Authorization: `Bearer ${world.key.text}`, 'Content-Type': 'application/json' }]) {
        const answer = await world.api.fetch(`/api/v1/stats/${name}`, { method, headers, body: '{{{' })
        refused(answer, 405, 'method_not_allowed')
        assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS')
      }
})

test('rare methods are refused too', async (t) => {
  const { api } = await openWorld(t)
  for (const method of ['TRACE', 'PROPFIND', 'QUERY', 'PURGE']) {
    const request = `${method} /api/v1/stats/overview?range=7d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    refused(await sendRaw(api.port, request), 405, 'method_not_allowed')
  }
})

test('a known path is recognised in any percent-encoding', async (t) => {
  const world = await openWorld(t)
  const path = '/stats/%6Fverview'
  assert.equal((await world.get(path)).status, 200)
  refused(await world.get(path, '', { method: 'POST' }), 405, 'method_not_allowed')
})
