import { test } from 'node:test'
import { newKeyText } from '../../../src/accounts/key-text.ts'
import { openWorld } from '../../support/world.ts'
import { apiWithoutPostgres } from '../outage.ts'
import { as, refused, reportNames } from '../vocabulary.ts'

test('a well-formed key that does not exist is refused on every endpoint', async (t) => {
  const world = await openWorld(t)
  for (const name of reportNames)
    refused(await world.get(`/stats/${name}`, '', as(newKeyText('site'))), 401, 'invalid_key')
  refused(await world.get('/stats/overview', '', as(newKeyText('account'))), 401, 'invalid_key')
})

const misshapen = (text: string) => [
  'x',
  text.slice(0, -1),
  `${text}0`,
  text.toUpperCase(),
  text.replace('ff_s_', 'ff_a_'),
  text.replace('ff_s_', 'ff_x_'),
  text.replace('ff_s_', 'sk_s_'),
  // one typing error: the checksum no longer matches
  text.slice(0, 10) + (text[10] === 'a' ? 'b' : 'a') + text.slice(11),
  text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'),
  `${text.slice(0, -1)}é`,
  "'OR'1'='1",
]

test('a key with the wrong form or checksum is refused', async (t) => {
  const world = await openWorld(t)
  for (const text of misshapen(world.key.text))
    refused(await world.get('/stats/overview', '', as(text)), 401, 'invalid_key')
})

test('a key with the wrong form is refused without a database read, even while PostgreSQL is down', async (t) => {
  const api = await apiWithoutPostgres(t)
  for (const text of misshapen(newKeyText('site')))
    refused(await api.fetch('/api/v1/stats/overview', as(text)), 401, 'invalid_key')
})
