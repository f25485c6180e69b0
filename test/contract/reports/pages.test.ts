import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, type Hit, pageview } from '../../support/events.ts'
import { openWorld } from '../../support/world.ts'
import { noon, times } from '../vocabulary.ts'

const at = '2026-11-14T10:00:00Z'

test('the whole body: pages with titles, most views first, and nothing else', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, pathname: '/', title: 'Home', visitor: 'ann' }),
    pageview({ at, pathname: '/', title: 'Home', visitor: 'ann' }),
    pageview({ at, pathname: '/', title: 'Home', visitor: 'bob' }),
    pageview({ at: '2026-11-13T10:00:00Z', pathname: '/pricing', title: 'Prices', visitor: 'ann' }),
    pageview({ at, pathname: '/pricing', title: 'Prices', visitor: 'ann' }),
    pageview({ at, pathname: '/bare' }),
  )
  const { json } = await world.get('/stats/pages', 'range=7d')
  assert.deepEqual(json, {
    data: [
      { pathname: '/', title: 'Home', views: 3, visitors: 2 },
      { pathname: '/pricing', title: 'Prices', views: 2, visitors: 2 },
      { pathname: '/bare', title: '', views: 1, visitors: 1 },
    ],
    meta: { site_id: world.siteId, range: '7d', limit: 10, generated_at: '2026-11-15T12:00:00.000Z' },
  })
})

test('without data: an empty list', async (t) => {
  const world = await openWorld(t, { now: noon })
  assert.deepEqual(await world.data('/stats/pages'), [])
})

test('ties are ordered by visitors, then by path in code point order, the same every time', async (t) => {
  const world = await openWorld(t, { now: noon })
  // U+FF5E comes before U+1F98A by code point and after it in UTF-16.
  const tied = ['/\u{1F98A}', '/\u{FF5E}', '/é', '/a', '/Z', '/', '/a/', '/10', '/9']
  await world.record(
    ...tied.map((pathname) => pageview({ at, pathname, visitor: 'ann' })),
    ...tied.map((pathname) => pageview({ at, pathname, visitor: 'ann' })),
    pageview({ at, pathname: '/two', visitor: 'ann' }),
    pageview({ at, pathname: '/two', visitor: 'bob' }),
  )
  for (const _ of times(3, String)) {
    const rows: { pathname: string }[] = await world.data('/stats/pages', 'range=7d')
    assert.deepEqual(
      rows.map(({ pathname }) => pathname),
      ['/two', '/', '/10', '/9', '/Z', '/a', '/a/', '/é', '/\u{FF5E}', '/\u{1F98A}'],
    )
  }
})

test('limit keeps the first rows: 10 by default, 1 to 100 on request', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(...times(105, (index) => pageview({ at, pathname: `/${String(index).padStart(3, '0')}` })))
  const paths = async (query: string) =>
    (await world.data('/stats/pages', query)).map(({ pathname }: { pathname: string }) => pathname)
  assert.deepEqual(
    await paths(''),
    times(10, (index) => `/00${index}`),
  )
  assert.deepEqual(await paths('limit=1'), ['/000'])
  assert.deepEqual(
    await paths('limit=100'),
    times(100, (index) => `/${String(index).padStart(3, '0')}`),
  )
})

test('case and trailing slash are kept, and hosts are merged', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, pathname: '/about' }),
    pageview({ at, pathname: '/about', hostname: 'shop.example' }),
    pageview({ at, pathname: '/About' }),
    pageview({ at, pathname: '/about/' }),
  )
  assert.deepEqual(await world.data('/stats/pages', 'range=7d'), [
    { pathname: '/about', title: '', views: 2, visitors: 1 },
    { pathname: '/About', title: '', views: 1, visitors: 1 },
    { pathname: '/about/', title: '', views: 1, visitors: 1 },
  ])
  assert.deepEqual(await world.data('/stats/pages', 'range=7d&hostname=shop.example'), [
    { pathname: '/about', title: '', views: 1, visitors: 1 },
  ])
})

test('custom events add no views and no rows', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at, pathname: '/a', visitor: 'ann' }),
    custom('signup', { at, pathname: '/a', visitor: 'bob' }),
    custom('signup', { at, pathname: '/b', visitor: 'bob' }),
  )
  assert.deepEqual(await world.data('/stats/pages', 'range=7d'), [{ pathname: '/a', title: '', views: 1, visitors: 1 }])
})

/** The title of /page after these hits and one more hit that puts the page into the requested window. */
const titles: Record<string, { hits: Hit[]; title: string }> = {
  'is the latest one, in any order of arrival': {
    hits: [
      pageview({ at: '2026-11-14T10:00:02Z', title: 'new' }),
      pageview({ at: '2026-11-14T10:00:01Z', title: 'old' }),
    ],
    title: 'new',
  },
  'is not erased by a later hit without a title': {
    hits: [pageview({ at: '2026-11-14T10:00:00Z', title: 'kept' }), pageview({ at: '2026-11-14T11:00:00Z' })],
    title: 'kept',
  },
  'is settled by event id when the times are equal': {
    hits: [
      pageview({ at, title: 'higher id', eventId: 'ffffffff-0000-4000-8000-000000000000' }),
      pageview({ at, title: 'lower id', eventId: '00000000-0000-4000-8000-000000000000' }),
    ],
    title: 'higher id',
  },
  'may come from before the window': {
    hits: [pageview({ at: '2020-01-01T00:00:00Z', title: 'old' })],
    title: 'old',
  },
  'may come from hits that the filters exclude': {
    hits: [
      pageview({ at, title: 'Deutsch' }),
      pageview({ at: '2026-11-14T11:00:00Z', title: 'Français', country: 'FR', visitor: 'b', device: 'Mobile' }),
    ],
    title: 'Français',
  },
  'may come from custom events': {
    hits: [pageview({ at, title: 'page' }), custom('signup', { at: '2026-11-14T10:00:01Z', title: 'event' })],
    title: 'event',
  },
  'is kept as written': {
    hits: [pageview({ at, title: ' "Q&A" \\N <b>\t🦊\n' })],
    title: ' "Q&A" \\N <b>\t🦊\n',
  },
}

for (const [rule, { hits, title }] of Object.entries(titles)) {
  test(`the title of a page ${rule}`, async (t) => {
    const world = await openWorld(t, { now: noon })
    await world.record(pageview({ at, pathname: '/page' }))
    for (const hit of hits) await world.record({ ...hit, pathname: '/page' })
    const [row] = await world.data('/stats/pages', 'range=7d&country=DE&device=desktop')
    assert.equal(row.title, title)
  })
}

test('a title sent only by visitors from an excluded country is never shown, from rollups or from events', async (t) => {
  const world = await openWorld(t, { now: noon, excludedCountries: ['FR', 'US'] })
  const page = { pathname: '/page' }
  await world.record(
    pageview({ ...page, at, title: 'Seite', visitor: 'a' }),
    pageview({ ...page, at: '2026-11-14T11:00:00Z', title: 'Page', country: 'FR', visitor: 'b' }),
    pageview({ ...page, at: '2026-11-14T12:00:00Z', title: 'Spam', country: 'US', visitor: 'c' }),
    pageview({ at, pathname: '/other', visitor: 'a' }),
    pageview({ at, pathname: '/other', title: 'Spam', country: 'US', visitor: 'c' }),
  )
  const titles = async (query = '') => {
    const rows: { title: string }[] = await world.data('/stats/pages', `range=7d${query}`)
    return rows.map(({ title }) => title).sort()
  }
  for (const last of [undefined, '2026-11-14']) {
    if (last) await world.rollUp(last)
    await world.excludeCountries(['FR', 'US'])
    assert.deepEqual(await titles(), ['', 'Seite'])
    await world.excludeCountries(['US'])
    assert.deepEqual(await titles(), ['', 'Page'])
    assert.deepEqual(await titles('&country=DE'), ['', 'Page'])
    await world.excludeCountries([])
    assert.deepEqual(await titles(), ['Spam', 'Spam'])
  }
})

test('the title of a page never comes from the same path on another site', async (t) => {
  const [one, other] = [await openWorld(t, { now: noon }), await openWorld(t, { now: noon })]
  await other.record(pageview({ at, pathname: '/page', title: 'Theirs' }))
  await one.record(pageview({ at, pathname: '/page' }))
  assert.equal((await one.data('/stats/pages'))[0].title, '')
})

test('a path may contain any character, and its title is found', async (t) => {
  const world = await openWorld(t, { now: noon })
  const paths = ["/it's", '/"', '/\\', '/\\N', '/\\n', '/a\tb', '/%20', '/{p0:String}', "/',(SELECT 1)--", '/🦊']
  await world.record(...paths.map((pathname) => pageview({ at, pathname, title: `Title of ${pathname}` })))
  const rows: { pathname: string; title: string }[] = await world.data('/stats/pages', 'range=7d')
  assert.deepEqual(rows.map(({ pathname }) => pathname).sort(), paths.toSorted())
  for (const { pathname, title } of rows) assert.equal(title, `Title of ${pathname}`)
})

test('views add up to the pageviews of overview', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    ...times(30, (index) => pageview({ at, pathname: `/${index % 7}`, visitor: `${index % 4}` })),
    custom('signup', { at }),
  )
  const rows: { views: number }[] = await world.data('/stats/pages', 'limit=100')
  assert.equal(
    rows.reduce((sum, { views }) => sum + views, 0),
    30,
  )
  assert.equal((await world.data('/stats/overview')).current.pageviews, 30)
})
