import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { as, newAccountKey, refused, reportNames } from '../vocabulary.ts'

const invalid = ['range=1d', 'limit=0', 'country=XX', 'device=phone', 'hostname=', 'utm_source=', 'site_id=']

test('an invalid value of each parameter is refused, and the message names the parameter', async (t) => {
  const world = await openWorld(t)
  for (const query of invalid) {
    const answer = await world.get('/stats/overview', query)
    refused(answer, 400, 'invalid_parameter')
    assert.ok(answer.json.error.message.includes(query.split('=')[0]), answer.text)
  }
})

test('a repeated site_id is refused with a site key and with an account key, even when both values are equal', async (t) => {
  const world = await openWorld(t)
  const key = await newAccountKey(world)
  for (const query of [`site_id=${world.siteId}&site_id=${world.siteId}`, `site_id=${world.siteId}&site_id=`]) {
    refused(await world.get('/stats/overview', query), 400, 'invalid_parameter')
    refused(await world.get('/stats/overview', query, as(key.text)), 400, 'invalid_parameter')
  }
})

test('UK is refused with a hint at GB', async (t) => {
  const world = await openWorld(t)
  for (const code of ['UK', 'uk']) {
    const answer = await world.get('/stats/geo', { country: code })
    refused(answer, 400, 'invalid_parameter')
    assert.match(answer.json.error.message, /\bGB\b/)
  }
})

test('a hostname that contains more than a host name is refused on every endpoint, never answered with zeros', async (t) => {
  const world = await openWorld(t)
  for (const name of reportNames)
    for (const value of ['https://x.example', 'x.example:8443', 'x.example/', 'x.example '])
      refused(await world.get(`/stats/${name}`, { hostname: value }), 400, 'invalid_parameter')
  const { json } = await world.get('/stats/pages', { hostname: 'https://x.example:8443/a' })
  assert.match(json.error.message, /\bhostname=x\.example\.$/)
})

test('a parameter in another case or with brackets is refused, and the message names the right parameter', async (t) => {
  const world = await openWorld(t)
  for (const query of ['Country=DE', 'range[]=7d', 'RANGE=7d', 'utm_source[0]=x', 'Start=2026-01-01', 'site_id[]=x']) {
    const answer = await world.get('/stats/overview', query)
    refused(answer, 400, 'invalid_parameter')
    const name = query.split(/[[=]/)[0]?.toLowerCase()
    assert.ok(answer.json.error.message.includes(`${name}=`), answer.text)
  }
})

test('a value that cannot be decoded is reported as such, not as missing', async (t) => {
  const world = await openWorld(t)
  const answer = await world.get('/stats/overview', 'utm_source=%FF')
  refused(answer, 400, 'invalid_parameter')
  assert.match(answer.json.error.message, /utm_source are not UTF-8/)
})

test('the message does not repeat what was sent', async (t) => {
  const world = await openWorld(t)
  for (const name of ['range', 'limit', 'country', 'device'])
    assert.ok(!(await world.get('/stats/geo', { [name]: '<script>' })).text.includes('script'))
})
