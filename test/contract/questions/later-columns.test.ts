// Browsers and the like are recorded since a migration: a question about days before it says so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageview } from '../../support/events.ts'
import { freshStores } from '../../support/fresh-stores.ts'
import { makeWorld } from '../../support/world.ts'

test('a question that begins before the columns existed names the first recorded day in the zone of the site', async (t) => {
  const stores = await freshStores((end) => t.after(end))
  const world = await makeWorld(stores, { zone: 'Europe/Berlin', now: '2026-03-14T12:00:00Z' })
  t.after(() => world.close())
  await world.record(
    pageview({ at: '2026-03-10T12:00:00Z', visitor: 'a' }),
    pageview({ at: '2026-03-14T10:00:00Z', visitor: 'b', browser: 'Firefox' }),
  )
  const warning = async (query: string, kind = 'totals') => {
    world.api.directory.forget(world.siteId)
    const { status, text, headers } = await world.ask(kind, query)
    assert.equal(status, 200, text)
    return headers.get('stats-warning')
  }
  const month = 'range=custom&start=2026-03-01&end=2026-03-14'
  const ofBrowser = `${month}&by=browser`
  const { postgres } = stores
  await postgres`UPDATE sites SET created_at = '2026-01-01' WHERE id = ${world.siteId}`
  // In Berlin it is the 13th.
  await postgres`UPDATE migrations SET applied_at = '2026-03-12T23:30:00Z' WHERE name = 'clickhouse/0004_visits.sql'`
  const since = (name: string) =>
    `${name} is recorded since 2026-03-13; earlier days have none, unless they were imported later`
  assert.equal(await warning(ofBrowser, 'breakdown'), since('browser'))
  assert.equal(
    await warning(`${month}&filter=utm_medium:is:email&filter=prop:plan:is:pro&filter=utm_medium:is_not:x`),
    `${since('utm_medium')}; ${since('prop:plan')}`,
  )
  assert.equal(await warning(`${month}&metrics=revenue:EUR`, 'timeseries'), since('revenue:EUR'))
  const compared = 'range=custom&start=2026-03-13&end=2026-03-14&filter=os:is:'
  assert.equal(await warning(`${compared}&compare=previous`), since('os'))
  // Not about days before, or not about such columns.
  assert.equal(await warning(compared), null)
  assert.equal(await warning(`${month}&filter=utm_source:is:letter`), null)
  // A younger site has recorded them from its first event.
  await postgres`UPDATE sites SET created_at = '2026-03-13' WHERE id = ${world.siteId}`
  assert.equal(await warning(ofBrowser, 'breakdown'), null)
})
