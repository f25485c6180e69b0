import assert from 'node:assert/strict'
import { test } from 'node:test'
import Bowser from 'bowser'
import { pageOf, shapeOf, tablesOf } from '../../src/demo/shape.ts'
import { browsers, campaignNames, currencies, eventProps, media, paidEvents } from '../../src/demo/visit-words.ts'
import { campaigns, countries, customEvents, sources } from '../../src/demo/words.ts'
import { classifyChannel } from '../../src/enrichment/channel.ts'
import { readProps } from '../../src/enrichment/props.ts'
import { readRevenue } from '../../src/enrichment/revenue.ts'
import { channels } from '../../src/traffic/channel.ts'
import { isCountryCode } from '../../src/traffic/country.ts'

const sizes = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

test('the tables name only countries, pages and sources that exist', () => {
  assert.deepEqual(
    countries.filter(([code, weight]) => !isCountryCode(code) || !(weight > 0)),
    [],
  )
  assert.deepEqual(
    [...campaigns.map(([, path]) => path), ...customEvents.map(([, , path]) => path).filter(Boolean)].filter(
      (path) => pageOf(path) === 0,
    ),
    [],
  )
  assert.deepEqual(
    campaigns.filter(([utmSource]) => !sources.some(([, , , name]) => name === utmSource)),
    [],
  )
})

test('tags, browsers, properties and currencies are such as are recorded', () => {
  // Two sources of referrals are a social network and a mail service by the rules of channels.
  const tagged = sources.filter(([, channel, , utmSource]) => utmSource !== '' && channel !== 'Referral')
  for (const [, channel, referrer, utmSource] of tagged) {
    const [medium = '', prefix = ''] = media[channel] ?? []
    for (const name of campaignNames) {
      const campaign = { medium, campaign: prefix + name, content: '', term: '' }
      const found = classifyChannel({ referrer, utmSource, campaign, clickId: '' })
      assert.equal(found, channel, JSON.stringify([referrer, utmSource, campaign]))
    }
  }
  const families = new Set([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP), 'Unknown'])
  for (const [, browser, os] of Object.values(browsers).flat()) assert.ok(families.has(browser) && families.has(os))
  const names = customEvents.map(([, name]) => name)
  for (const name of [...Object.keys(eventProps), ...paidEvents]) assert.ok(names.includes(name), name)
  for (const [key, values] of Object.values(eventProps))
    for (const value of values) assert.deepEqual(readProps({ [key]: value }), { props: { [key]: value }, dropped: [] })
  for (const currency of Object.values(currencies))
    assert.notEqual(readRevenue({ amount: 1, currency }), 'invalid', currency)
  assert.ok(Object.keys(currencies).every(isCountryCode))
})

test('a site of any size has every channel, an unknown country, and a source for push traffic', () => {
  for (const events of sizes) {
    const tables = tablesOf(shapeOf(events))
    assert.deepEqual(
      channels.filter((channel) => !tables.sources.some(([, name]) => name === channel)),
      [],
      `${events}`,
    )
    assert.ok(tables.countries.some(([code]) => code === 'ZZ'))
    assert.ok(tables.customEvents.some(([, , path]) => path === ''))
    assert.equal(tables.pushes.campaigns.length, campaigns.length)
    assert.ok(tables.pushes.viralSources.every((source) => source > 0))
    assert.ok(tables.pushes.posts.length > 10 && tables.pushes.posts.every((page) => page <= tables.pages))
  }
})

test('a whale has the promised number of values, and a smaller site fewer', () => {
  assert.deepEqual(shapeOf(100_000_000), {
    paths: 20_000,
    countries: 120,
    referrers: 2_000,
    utmSources: 40,
    customEvents: 30,
    hostnames: 3,
  })
  const paths = sizes.map((events) => shapeOf(events).paths)
  assert.deepEqual(
    paths,
    [...paths].sort((one, other) => one - other),
  )
  assert.equal(shapeOf(10).paths, shapeOf(10_000).paths)
})
