// Every expected value here was computed by hand, as the comments say; none was copied from output.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, dataOf, siteWith, view } from './examples.ts'
import { byCodePoint, changeOf } from './model.ts'

const noon = '2026-11-15T12:00Z'

describe('sessions', () => {
  test('belong to the window they started in, and are judged whole', () => {
    const early = { visitorId: '1', sessionId: '1' }
    const late = { visitorId: '3', sessionId: '3' }
    const site = siteWith([
      // Started 10 s before the window and continued 10 s into it: its view counts, its session does not.
      view('2026-11-14T11:59:50Z', early),
      view('2026-11-14T12:00:10Z', early),
      // A single hit at the first instant: a bounce without duration.
      view('2026-11-14T12:00:00Z', { visitorId: '2', sessionId: '2' }),
      // Started inside and continued after now: one view counts, but it is no bounce and lasted 90 s.
      view('2026-11-15T11:59:00Z', late),
      view('2026-11-15T12:00:30Z', late),
    ])
    deepEqual(dataOf(site, 'overview', 'range=24h', noon), {
      // Sessions 2 and 3: one bounce of two = 50 %; (0 + 90) / 2 = 45 s.
      current: { visitors: 3, pageviews: 3, sessions: 2, bounce_rate: 50, avg_duration: 45 },
      // Session 1 with its first view; 20 s in total.
      previous: { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 0, avg_duration: 20 },
      // 3 against 1 is 200 % more, 2 against 1 is 100 % more, 45 against 20 is 25 / 20 = 125 % more.
      change: { visitors: 200, pageviews: 200, sessions: 100, bounce_rate: null, avg_duration: 125 },
    })
  })

  test('with a hostname filter need a hit on the host, and are still judged whole', () => {
    const both = { visitorId: '1', sessionId: '1' }
    const site = siteWith([
      view('2026-11-15T10:00:00Z', both),
      view('2026-11-15T10:00:40Z', { ...both, hostname: 'shop.example.com' }),
      view('2026-11-15T10:00:00Z'),
    ])
    const current = (query: string) => (dataOf(site, 'overview', query, noon) as { current: object }).current
    // One session of 40 s, whose only view on the shop is no bounce.
    deepEqual(current('range=7d&hostname=SHOP.example.com'), {
      visitors: 1,
      pageviews: 1,
      sessions: 1,
      bounce_rate: 0,
      avg_duration: 40,
    })
    // Two sessions, one a bounce; (40 + 0) / 2.
    deepEqual(current('range=7d&hostname=example.com'), {
      visitors: 2,
      pageviews: 2,
      sessions: 2,
      bounce_rate: 50,
      avg_duration: 20,
    })
  })

  test('are not counted for a hit on the host after the window', () => {
    const late = { visitorId: '1', sessionId: '1' }
    const site = siteWith([
      view('2026-11-15T11:59:50Z', late),
      view('2026-11-15T12:00:10Z', { ...late, hostname: 'shop.example.com' }),
    ])
    deepEqual((dataOf(site, 'overview', 'range=7d&hostname=shop.example.com', noon) as { current: object }).current, {
      visitors: 0,
      pageviews: 0,
      sessions: 0,
      bounce_rate: 0,
      avg_duration: 0,
    })
  })

  test('with a single custom event are no bounce, and halves are rounded up', () => {
    const second = { visitorId: '1', sessionId: '1' }
    const bounces = Array.from({ length: 1 }, () => view('2026-11-15T10:00:00Z'))
    const custom = Array.from({ length: 6 }, () => view('2026-11-15T10:00:00Z', { name: 'signup' }))
    const two = [view('2026-11-15T10:00:00Z', second), view('2026-11-15T10:00:04Z', second)]
    // 8 sessions: 1 bounce = 12.5 %, rounded to 13; 4 s in total = 0.5 s, rounded to 1. Views: 1 + 2.
    const { current } = dataOf(siteWith([...bounces, ...custom, ...two]), 'overview', 'range=7d', noon) as {
      current: object
    }
    deepEqual(current, { visitors: 8, pageviews: 3, sessions: 8, bounce_rate: 13, avg_duration: 1 })
  })
})

test('one visitor id on two days is two visitors, and one session id two sessions', () => {
  const same = { visitorId: '1', sessionId: '1' }
  const site = siteWith([view('2026-11-14T10:00Z', same), view('2026-11-15T10:00Z', same)])
  const { current } = dataOf(site, 'overview', 'range=7d', noon) as { current: object }
  deepEqual(current, { visitors: 2, pageviews: 2, sessions: 2, bounce_rate: 100, avg_duration: 0 })
})

test('change has one decimal, with halves rounded away from zero', () => {
  equal(changeOf(150, 100), 50)
  equal(changeOf(4, 3), 33.3) // 33.33…
  equal(changeOf(1, 3), -66.7) // -66.66…
  equal(changeOf(17, 16), 6.3) // 6.25
  equal(changeOf(15, 16), -6.3) // -6.25
  equal(changeOf(1999, 2000), -0.1) // -0.05
  ok(Object.is(changeOf(9999, 10_000), 0)) // -0.01, and not -0
  equal(changeOf(0, 5), -100)
  equal(changeOf(5, 0), null)
  equal(changeOf(0, 0), null)
})

describe('order', () => {
  test('is by code point, not by UTF-16 unit', () => {
    // U+FF5E < U+1F98A, though the surrogate U+D83E < U+FF5E.
    ok(byCodePoint('～', '🦊') < 0)
    ok(byCodePoint('Z', 'a') < 0)
    ok(byCodePoint('/a', '/a/') < 0)
    equal(byCodePoint('🦊', '🦊'), 0)
  })

  test('is by the numbers from left to right, then the label', () => {
    const one = { visitorId: '1' }
    const site = siteWith([
      view('2026-11-15T10:00Z', { ...one, pathname: '/🦊' }),
      view('2026-11-15T10:00Z', { ...one, pathname: '/～' }),
      // Two views by two visitors, and two views by one.
      view('2026-11-15T10:00Z', { pathname: '/z' }),
      view('2026-11-15T10:00Z', { pathname: '/z' }),
      view('2026-11-15T10:00Z', { ...one, pathname: '/a' }),
      view('2026-11-15T10:00Z', { ...one, pathname: '/a' }),
    ])
    const pages = dataOf(site, 'pages', '', noon) as { pathname: string }[]
    deepEqual(
      pages.map((row) => row.pathname),
      ['/z', '/a', '/～', '/🦊'],
    )
    deepEqual(
      (dataOf(site, 'pages', 'limit=1', noon) as { pathname: string }[]).map((row) => row.pathname),
      ['/z'],
    )
  })
})

describe('titles', () => {
  const titleOf = (...events: Parameters<typeof siteWith>[0]) =>
    (dataOf(siteWith(events, 'UTC', ['FR']), 'pages', 'range=7d', noon) as { title: string }[])[0]?.title
  const plain = view('2026-11-15T10:00Z')

  test('are the latest non-empty ones of any event, even outside the window, but not from an excluded country', () => {
    equal(titleOf(plain), '')
    equal(titleOf(plain, view('2020-01-01T00:00Z', { title: 'Old' })), 'Old')
    const hidden = view('2026-11-15T11:00Z', { title: 'Hidden', country: 'FR' })
    equal(titleOf(plain, hidden), '')
    equal(titleOf(plain, hidden, view('2020-01-01T00:00Z', { title: 'Old' })), 'Old')
    equal(titleOf(plain, view('2026-11-15T11:00Z', { title: 'Custom', name: 'signup' })), 'Custom')
  })

  test('at the same time come from the larger event id', () => {
    const at = '2026-11-15T11:00Z'
    const first = view(at, { title: 'a', eventId: '0a000000-0000-4000-8000-000000000000' })
    const second = view(at, { title: 'b', eventId: '09000000-0000-4000-8000-000000000000' })
    // 0a > 09.
    equal(titleOf(plain, first, second), 'a')
    equal(titleOf(plain, second, first), 'a')
  })
})

describe('breakdowns', () => {
  const one = { visitorId: '1', sessionId: '1' }
  const site = siteWith([
    view('2026-11-15T08:00Z', { ...one, referrer: 'a.example', channel: 'Referral' }),
    view('2026-11-15T10:00Z', { ...one, sessionId: '2' }),
    view('2026-11-15T10:00Z', { country: 'ZZ', device: 'Unknown' }),
    view('2026-11-15T10:00Z', {
      name: '404',
      referrer: 'b.example',
      channel: 'Referral',
      utmSource: 'News',
      country: 'AX',
    }),
  ])

  test('channels: a visitor may use two, so the shares may add up to more than 100', () => {
    // Three visitors; Direct and Referral have two each: 66.67 %, up to 67.
    deepEqual(dataOf(site, 'channels', '', noon), [
      { channel: 'Direct', visitors: 2, percentage: 67 },
      { channel: 'Referral', visitors: 2, percentage: 67 },
    ])
  })

  test('referrers: none is omitted, and a row with only a custom event has no views', () => {
    deepEqual(dataOf(site, 'referrers', '', noon), [
      { referrer: 'a.example', views: 1, visitors: 1 },
      { referrer: 'b.example', views: 0, visitors: 1 },
    ])
  })

  test('devices, countries, campaigns and events', () => {
    deepEqual(dataOf(site, 'devices', '', noon), [
      { name: 'Desktop', visitors: 2 },
      { name: 'Unknown', visitors: 1 },
    ])
    // Å is U+00C5, after every plain letter.
    deepEqual(dataOf(site, 'geo', '', noon), [
      { name: 'Germany', visitors: 1 },
      { name: 'Unknown', visitors: 1 },
      { name: 'Åland Islands', visitors: 1 },
    ])
    deepEqual(dataOf(site, 'utm', '', noon), [{ name: 'News', visitors: 1 }])
    deepEqual(dataOf(site, 'events', '', noon), [{ name: '404', count: 1, visitors: 1 }])
  })

  test('an excluded country appears nowhere, not even with a filter on it', () => {
    const without = siteWith([...site.events], 'UTC', ['AX'])
    deepEqual(dataOf(without, 'events', '', noon), [])
    deepEqual(dataOf(without, 'geo', 'country=AX', noon), [])
    // Two visitors, both Direct, one of them also Referral.
    deepEqual(dataOf(without, 'channels', '', noon), [
      { channel: 'Direct', visitors: 2, percentage: 100 },
      { channel: 'Referral', visitors: 1, percentage: 50 },
    ])
  })

  test('the whole text of a response', () => {
    deepEqual(ask(site, 'utm', 'range=24h&limit=5&utm_source=News', noon), {
      status: 200,
      body: '{"data":[{"name":"News","visitors":1}],"meta":{"site_id":"site_example","range":"24h","limit":5,"generated_at":"2026-11-15T12:00:00.000Z"}}',
      period: '2026-11-14T12:00:00+00:00/2026-11-15T12:00:00+00:00',
      warnings: 0,
      remarks: [],
    })
    deepEqual(ask(site, 'channels', 'range=24h&limit=5&utm_source=news', noon), {
      status: 200,
      body: '{"data":[],"meta":{"site_id":"site_example","range":"24h","generated_at":"2026-11-15T12:00:00.000Z"}}',
      period: '2026-11-14T12:00:00+00:00/2026-11-15T12:00:00+00:00',
      warnings: 1,
      remarks: [],
    })
  })
})
