// Stats-Total-Rows is the number of rows without the limit. It is sent when the limit cuts the list (decision D-160).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CountryCode } from '../../src/traffic/country.ts'
import type { Device } from '../../src/traffic/device.ts'
import { custom, type Hit, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { contractReports, noon, times } from './vocabulary.ts'

const limited: string[] = ['pages', 'referrers', 'devices', 'geo', 'events', 'utm']

const countries: CountryCode[] = ['DE', 'US', 'GB', 'FR']
const devices: Device[] = ['Desktop', 'Mobile', 'Tablet', 'Unknown']

/** Four values of every listed property, on two days. The last value of each comes only from France. */
const hits = times(4, (index): Hit[] => {
  const words = {
    country: countries[index] as CountryCode,
    device: devices[index] as Device,
    pathname: `/${index}`,
    referrer: `${index}.example`,
    utmSource: `source ${index}`,
    visitor: `${index}`,
    channel: 'Referral' as const,
  }
  return ['2026-11-13', '2026-11-14'].flatMap((day) => [
    pageview({ ...words, at: `${day}T10:00:00Z` }),
    custom(`event ${index}`, { ...words, at: `${day}T10:00:10Z` }),
  ])
}).flat()

for (const isRolledUp of [false, true])
  test(`a list cut by the limit has the number of all rows, ${isRolledUp ? 'from rollups' : 'from events'}`, async (t) => {
    const world = await openWorld(t, { now: noon })
    await world.record(...hits)
    if (isRolledUp) await world.rollUp('2026-11-14')
    const total = async (name: string, query: string) => {
      const { status, headers } = await world.get(`/stats/${name}`, query)
      assert.equal(status, 200)
      return headers.get('stats-total-rows')
    }
    for (const name of contractReports) {
      const cut = limited.includes(name) ? '4' : null
      assert.equal(await total(name, 'range=7d&limit=1'), cut, name)
      assert.equal(await total(name, 'range=7d&limit=3'), cut, name)
      assert.equal(await total(name, 'range=7d&limit=4'), null, name)
      assert.equal(await total(name, 'range=7d'), null, name)
      assert.equal(await total(name, 'range=24h&device=tablet&limit=1'), null, name)
    }
    // Rows removed by an exclusion are not counted.
    await world.excludeCountries(['FR'])
    for (const name of limited) assert.equal(await total(name, 'range=7d&limit=2'), '3', name)
    for (const name of limited) assert.equal(await total(name, 'range=7d&limit=3'), null, name)
  })

test('304 and HEAD responses have the number too', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...hits)
  for (const init of [{ method: 'HEAD' }, { headers: { 'If-None-Match': '*' } }])
    assert.equal((await world.get('/stats/pages', 'limit=1', init)).headers.get('stats-total-rows'), '4')
})
