import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { sendRaw } from '../raw.ts'
import { refused, reportNames } from '../vocabulary.ts'

test('a request without an Authorization header is refused on every endpoint', async (t) => {
  const { api } = await openWorld(t)
  for (const name of reportNames) refused(await api.fetch(`/api/v1/stats/${name}`), 401, 'unauthorized')
})

test('a malformed Authorization header is refused: another scheme, no token, more than one token', async (t) => {
  const { api, key } = await openWorld(t)
  const headers = [
    '',
    key.text,
    'Bearer',
    'Bearer ',
    `Basic ${Buffer.from(`${key.text}:`).toString('base64')}`,
    `Token ${key.text}`,
    `Bearer${key.text}`,
    `Bearer: ${key.text}`,
    `Bearer ${key.text} ${key.text}`,
    `Bearer ${key.text},${key.text}`,
    `Bearer ${key.text}, Bearer ${key.text}`,
    `Bearer\t${key.text}`,
    `XBearer ${key.text}`,
  ]
  for (const Authorization of headers)
    refused(await api.fetch('/api/v1/stats/overview', { headers: { Authorization } }), 401, 'unauthorized')
})

test('two Authorization headers count as two tokens and are refused', async (t) => {
  const { api, key } = await openWorld(t)
  const request = [
    'GET /api/v1/stats/overview HTTP/1.1',
    'Host: footfall.example',
    `Authorization: Bearer ${key.text}`,
    'Authorization: Bearer another',
    'Connection: close',
    '\r\n',
  ].join('\r\n')
  refused(await sendRaw(api.port, request), 401, 'unauthorized')
})

test('a key is accepted only in the Authorization header: not in the URL, a cookie, X-API-Key or the user part', async (t) => {
  const { api, key } = await openWorld(t)
  const path = '/api/v1/stats/overview'
  for (const query of ['api_key', 'key', 'token', 'access_token', 'Authorization'])
    refused(await api.fetch(`${path}?${query}=${key.text}`), 401, 'unauthorized')
  for (const name of ['X-API-Key', 'Cookie', 'Proxy-Authorization', 'X-Authorization'])
    refused(await api.fetch(path, { headers: { [name]: `Bearer ${key.text}` } }), 401, 'unauthorized')
})
