// Goals are the only numbers of a report that may take long: it comes without them if they cannot be read.
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGoal } from '../../src/accounts/goals.ts'
import { custom, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { compose, siteOf } from './composing.ts'

test('a report comes without goals if they cannot be read, and says so', async (t) => {
  const world = await openWorld(t)
  const { clickhouse, postgres } = world.stores
  await world.record(
    pageview({ at: '2026-03-04T12:00:00Z', pathname: '/pricing' }),
    custom('signup', { at: '2026-03-04T12:01:00Z' }),
  )
  await createGoal(postgres, world.siteId, { name: 'Signup', condition: { kind: 'event', event: 'signup' } })
  await world.rollUp('2026-03-10')
  const site = await siteOf(world.stores, world.siteId)
  const goalsIn = async () => {
    const { text } = await compose(world.stores, { interval: 'week', firstDay: '2026-03-02', about: { site } })
    assert.match(text, /\/pricing/)
    return /Goals[^\n]*\n(?:[-=]+\n)?([^\n]*)/.exec(text)?.[1]?.trim()
  }
  assert.match((await goalsIn()) ?? '', /^1 +100% +Signup$/)

  await clickhouse.command('RENAME TABLE sessions TO sessions_elsewhere')
  assert.equal(await goalsIn(), 'Goals could not be counted this time.')
  await clickhouse.command('RENAME TABLE sessions_elsewhere TO sessions')

  // The rollups of a site with 300 million pageviews on that day.
  await clickhouse.command(`
    INSERT INTO short_rollups SELECT * REPLACE (toInt64(300000000) AS views) FROM short_rollups
    WHERE site_id = '${world.siteId}' AND short_rollups.views > 0`)
  assert.equal(await goalsIn(), 'Too much traffic to count goals in a report.')
})
