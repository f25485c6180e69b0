import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Site } from '../../src/accounts/sites.ts'
import type { Totals } from '../../src/console/dashboard/answers.ts'
import { numbers } from '../../src/console/dashboard/numbers.ts'
import { contextOfSite, defaultState } from '../../src/console/dashboard/state.ts'
import type { Hit } from '../support/events.ts'
import { seeded } from '../support/random.ts'
import { checkHours, currentVisitors } from './dashboard-model.ts'
import { readDashboard } from './dashboard-page.ts'
import { openDashboardWorld } from './dashboard-world.ts'

/** On, just before and just after the edges of hours and of the last five minutes, and by random visitors. */
function recentHits(now: number, seed: number): Hit[] {
  const random = seeded(`hours/${seed}`)
  const edges = [0, 1, 24, 25, 47, 48, ...Array.from({ length: 30 }, () => random.below(49))].map(
    (hours) => hours * 3_600_000,
  )
  return [...edges, 299_999, 300_000, 300_001].flatMap((ago) =>
    [-1, 0, 1, random.below(3_600_000)].map((more) => ({
      at: new Date(now - ago + more).toISOString(),
      visitor: `v${random.below(12)}`,
      name: random.pick(['pageview', 'pageview', 'signup']),
      country: random.pick(['DE', 'FR', 'CN'] as const),
      device: random.pick(['Desktop', 'Mobile'] as const),
    })),
  )
}

test('the hours of a day and the visitors of the last five minutes are those of the model', {
  timeout: 600_000,
}, async (t) => {
  for (const seed of [1, 2, 3, 4]) {
    const world = await openDashboardWorld(t, seed, (now) => recentHits(now, seed))
    assert.ok(world.events.length > 100)
    for (const filters of [{}, { country: 'FR' }, { device: 'mobile' }] as Record<string, string>[]) {
      for (const metric of ['visitors', 'pageviews'] as const) {
        const fields = { range: '24h', ...filters }
        const read = readDashboard((await world.page({ ...fields, metric })).text)
        checkHours(world, fields, { metric, compare: 'on' }, read)
        assert.equal(read.now, currentVisitors(world))
      }
    }
  }
})

test('a change is green when it is good: more visitors, fewer bounces', async () => {
  const same = { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 1, avg_duration: 1 }
  const site = { domain: 'a.example', goals: [] as Site['goals'] } as Site
  const shownFor = async (all: number) => {
    const change = Object.fromEntries(Object.keys(same).map((name) => [name, all])) as unknown as Totals['change']
    const pieces = numbers(defaultState(contextOfSite(site)), { ...same, previous: same, change } as Totals)
    const text = (await Array.fromAsync(pieces, (piece) => piece.text)).join('')
    return Object.keys(same).map((name) => {
      const [, metric = ''] = text.split(`id="metric-${name}"`)
      const [, sign, arrow] = /<span class="(up|down)"><span aria-hidden="true">(.)</.exec(metric) ?? []
      return `${arrow} ${sign}`
    })
  }
  assert.deepEqual(await shownFor(5), ['▲ up', '▲ up', '▲ up', '▲ down', '▲ up'])
  assert.deepEqual(await shownFor(-5), ['▼ down', '▼ down', '▼ down', '▼ up', '▼ down'])
})
