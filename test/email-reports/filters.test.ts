// Reports about the visits that filters choose (decision D-238).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGoal, deleteGoal } from '../../src/accounts/goals.ts'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { createSubscription } from '../../src/email-reports/subscriptions.ts'
import { writeReport } from '../../src/email-reports/write-report.ts'
import { readFilters } from '../../src/stats/questions/filters.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { custom, pageview } from '../support/events.ts'
import { importDailySums, visitorsOfDays } from '../support/imported-sums.ts'
import { keySecrets } from '../support/stores.ts'
import { openWorld, type World } from '../support/world.ts'
import { compose, siteOf } from './composing.ts'

const week = { interval: 'week', firstDay: '2026-03-02' } as const

/** Two visits to the blog, one of them from another page; one to prices; and one to the blog in the week before. */
async function record(world: World): Promise<void> {
  await world.record(
    pageview({ at: '2026-03-04T12:00:00Z', visitor: 'a', country: 'DE', pathname: '/secret' }),
    pageview({ at: '2026-03-04T12:01:00Z', visitor: 'a', country: 'DE', pathname: '/blog/a' }),
    custom('Like', { at: '2026-03-04T12:02:00Z', visitor: 'a', country: 'DE', pathname: '/blog/a' }),
    custom('Pay', { at: '2026-03-04T12:03:00Z', visitor: 'a', country: 'DE', pathname: '/secret' }),
    pageview({
      ...{ at: '2026-03-05T12:00:00Z', visitor: 'b', country: 'FR', pathname: '/blog/b' },
      ...{ referrer: 'google.com', channel: 'Organic Search' },
    }),
    pageview({ at: '2026-03-05T12:00:00Z', visitor: 'c', country: 'JP', pathname: '/prices' }),
    pageview({ at: '2026-02-26T12:00:00Z', visitor: 'd', country: 'DE', pathname: '/blog/a' }),
  )
}

const rowsOf = (text: string, title: string): string[] =>
  (new RegExp(`^${title} \\([^\\n]*\\)\\n(.*?)\\n\\n`, 'ms').exec(`${text}\n\n`)?.[1] ?? '')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())

test('a report has imported days, unless it has filters, and says that there are some', async (t) => {
  const world = await openWorld(t)
  await record(world)
  const sums = visitorsOfDays({ '2026-02-25': 10, '2026-03-03': 100 })
  await importDailySums(world.stores, world.siteId, sums, Date.parse('2026-03-09T12:00:00Z'))
  const site = await siteOf(world.stores, world.siteId)
  const remark = /Some of these days, or of those before, were imported as daily sums of another product\./
  const all = await compose(world.stores, { ...week, about: { site } })
  const filtered = await compose(world.stores, {
    ...week,
    about: { site, filters: readFilters(['page:starts_with:/blog']) },
  })
  assert.match(all.text, /^103 visitors \(\+836.4% from 11\)$/m)
  assert.match(filtered.text, /^2 visitors \(\+100% from 1\)$/m)
  for (const { text, html } of [all, filtered]) for (const part of [text, html]) assert.match(part, remark)
  const later = await compose(world.stores, { interval: 'week', firstDay: '2026-03-16', about: { site } })
  assert.doesNotMatch(later.text, remark)
})

test('a report with filters has only the visits that they choose, and names them', async (t) => {
  const world = await openWorld(t)
  await record(world)
  const site = await siteOf(world.stores, world.siteId)
  const filters = readFilters(['page:starts_with:/blog'])
  const letter = await compose(world.stores, { ...week, about: { site, filters } })
  const { text, html, subject } = letter
  assert.match(subject, /, filtered: 2 visitors, 2 – 8 March$/)
  for (const part of [text, html]) {
    assert.match(part, /Only: Page starts with \/blog/)
    assert.doesNotMatch(part, /secret|Pay|prices|Japan/)
    assert.match(part, /filter=page%3Astarts_with%3A%2Fblog/)
  }
  assert.match(text, /^2 visitors \(\+100% from 1\)$/m)
  assert.match(text, /^Pageviews +2 +1 +\+100%$/m)
  assert.match(text, /^Wednesday 4 March +1 +0$|^Wed[^\n]* 1 +0$/m)
  assert.deepEqual(rowsOf(text, 'Pages'), ['1 50% /blog/a', '1 50% /blog/b'])
  assert.deepEqual(rowsOf(text, 'Sources'), ['1 50% Direct', '1 50% google.com'])
  assert.deepEqual(rowsOf(text, 'Countries'), ['1 50% Germany', '1 50% France'])
  assert.deepEqual(rowsOf(text, 'Custom events'), ['1 1 Like'])
  // A report without filters still has everything.
  const all = await compose(world.stores, { ...week, about: { site } })
  assert.match(all.subject, /: 3 visitors/)
  assert.doesNotMatch(all.text, /Only:/)
})

test('without a visit that matches, the report says so and nothing about the snippet', async (t) => {
  const world = await openWorld(t)
  await record(world)
  const site = await siteOf(world.stores, world.siteId)
  const filters = readFilters(['country:is:US'])
  const { text, html } = await compose(world.stores, { ...week, about: { site, filters } })
  for (const part of [text, html]) {
    assert.match(part, /No visit matched these filters this week/)
    assert.doesNotMatch(part, /snippet/)
  }
})

test('a report keeps its filters, and is not sent without a goal that they name', async (t) => {
  const world = await openWorld(t)
  await record(world)
  const { postgres, cluster } = world.stores
  await createGoal(postgres, world.siteId, { name: 'Likes', condition: { kind: 'event', event: 'Like' } })
  const { accountId } = (await findSite(postgres, world.siteId)) as Site
  const usual = { accountId, siteId: world.siteId, userId: null, interval: 'week', hour: 8, timeZone: 'UTC' } as const
  const create = (filters: string[]) =>
    createSubscription(postgres, { ...usual, filters, email: 'a@example.com', createdBy: 'test' })
  const id = await create(['goal:is:Likes'])
  // Another report about the site, but not the same one again.
  assert.ok(await create(['country:is:FR']))
  assert.equal(await create(['goal:is:Likes']), undefined)
  const now = Date.parse('2026-03-09T08:00:00Z')
  const services = {
    postgres,
    stats: createStatsService({ cluster, now: () => now, cacheBytes: 0 }),
    outbox: { secrets: keySecrets, publicUrl: 'https://stats.example' },
  }
  const message = { subscriptionId: id as string, period: week.firstDay, dueAt: new Date(now) }
  const write = () => writeReport(services, message, now, AbortSignal.timeout(60_000))
  assert.match((await write())?.letter.text ?? '', /Only: Goal Likes\n[\s\S]*^1 visitor/m)
  await deleteGoal(postgres, world.siteId, 'Likes')
  assert.equal(await write(), undefined)
})
