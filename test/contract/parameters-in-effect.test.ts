// Every filter narrows every report, and a parameter without effect is reported.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, type Hit, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { contractReports, limitedReports, noon, reportNames } from './vocabulary.ts'

test('Stats-Warning names each parameter without effect in one clause, on every endpoint', async (t) => {
  const world = await openWorld(t, { now: noon })
  for (const name of reportNames) {
    const query =
      'utm_campaign=x&limit=5&start=2026-01-01&end=2026-01-02&filters%5Bcountry%5D=DE&Countries=DE&utm_campaign=y'
    const { status, headers } = await world.get(`/stats/${name}`, query)
    assert.equal(status, 200)
    const sentences = headers.get('stats-warning')?.split('; ') ?? []
    const named = [
      'utm_campaign',
      'filters%5Bcountry%5D',
      'Countries',
      'start',
      'end',
      ...(limitedReports.includes(name) ? [] : ['limit']),
    ]
    assert.equal(sentences.length, named.length, `${name}: ${sentences}`)
    for (const parameter of named)
      assert.equal(sentences.filter((sentence) => sentence.split(' ').includes(parameter)).length, 1, parameter)
  }
})

test('a request whose parameters all have an effect has no Stats-Warning', async (t) => {
  const world = await openWorld(t, { now: noon })
  const query = 'range=custom&start=2026-11-01&end=2026-11-02&country=DE&device=mobile&hostname=a&utm_source=b'
  for (const name of reportNames)
    assert.equal(
      (await world.get(`/stats/${name}`, `${query}&site_id=${world.siteId}`)).headers.get('stats-warning'),
      null,
    )
})

test('a parameter without a name is called that', async (t) => {
  const world = await openWorld(t, { now: noon })
  const warning = async (query: string) => (await world.get('/stats/pages', query)).headers.get('stats-warning')
  assert.equal(await warning('=1'), 'a parameter without a name was ignored')
  assert.equal(await warning('=1&x=2&='), 'a parameter without a name was ignored; unknown parameter x was ignored')
})

test('no byte of a parameter’s name can break the header', async (t) => {
  const world = await openWorld(t, { now: noon })
  const { status, headers } = await world.get(
    '/stats/pages',
    `a%0D%0AX-Evil:%201=1&%F0%9F%A6%8A=1&%zz=1&${'a'.repeat(500)}=1`,
  )
  assert.equal(status, 200)
  assert.equal(headers.get('x-evil'), null)
  assert.match(headers.get('stats-warning') ?? '', /^[\x20-\x7e]+$/)
})

const at = '2026-11-14T10:00:00Z'

test('only the date of a date-time counts, as written, in any zone, and Stats-Warning says that its time has no effect', async (t) => {
  const world = await openWorld(t, { now: noon, zone: 'America/New_York' })
  const asked = async (start: string, end: string) => {
    const query = new URLSearchParams({ range: 'custom', start, end }).toString()
    const { status, headers } = await world.get('/stats/overview', query)
    assert.equal(status, 200)
    return [headers.get('stats-period'), headers.get('stats-warning')]
  }
  const period = '2026-11-01T00:00:00-04:00/2026-11-03T00:00:00-05:00'
  assert.deepEqual(await asked('2026-11-01', '20261102'), [period, null])
  assert.deepEqual(await asked('20261101', '2026-11-02T23:59:59.999Z'), [
    period,
    'the time in end has no effect, only its date as written counts',
  ])
  assert.deepEqual(await asked('2026-11-01T00:00:00Z', '2026-11-02T03:00:00+14:00'), [
    period,
    'the time in start has no effect, only its date as written counts; the time in end has no effect, only its date as written counts',
  ])
})

test('an international host name finds the traffic of its ASCII form', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(pageview({ at, hostname: 'xn--bcher-kva.example' }), pageview({ at, hostname: 'other.example' }))
  for (const hostname of ['bücher.example', 'BÜCHER.Example.', 'xn--bcher-kva.example', 'XN--BCHER-KVA.EXAMPLE'])
    assert.equal((await world.data('/stats/overview', { hostname })).current.pageviews, 1, hostname)
})

/** Two visitors who differ in every property that can be filtered on. */
const ann: Partial<Hit> = { country: 'DE', device: 'Mobile', hostname: 'a.example', utmSource: 'A', referrer: 'a.com' }
const bob: Partial<Hit> = { country: 'FR', device: 'Tablet', hostname: 'b.example', utmSource: 'a', referrer: 'b.com' }

const annOnly = {
  overview: { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 0, avg_duration: 5 },
  timeseries: [{ date: '2026-11-14', visitors: 1, pageviews: 1 }],
  pages: [{ pathname: '/ann', title: '', views: 1, visitors: 1 }],
  referrers: [{ referrer: 'a.com', views: 1, visitors: 1 }],
  channels: [{ channel: 'Email', visitors: 1, percentage: 100 }],
  devices: [{ name: 'Mobile', visitors: 1 }],
  geo: [{ name: 'Germany', visitors: 1 }],
  events: [{ name: 'by ann', count: 1, visitors: 1 }],
  utm: [{ name: 'A', visitors: 1 }],
}

for (const filter of [
  'country=de',
  'device=mobile',
  'hostname=A.EXAMPLE',
  'utm_source=A',
  'country=DE&utm_source=A&device=mobile',
])
  test(`no filter is silently ignored: ${filter} narrows every report`, async (t) => {
    const world = await openWorld(t, { now: noon })
    await world.record(
      pageview({ at, visitor: 'ann', pathname: '/ann', channel: 'Email', ...ann }),
      custom('by ann', { at: '2026-11-14T10:00:05Z', visitor: 'ann', channel: 'Email', ...ann }),
      pageview({ at, visitor: 'bob', pathname: '/bob', channel: 'Direct', ...bob }),
      custom('by bob', { at, visitor: 'bob', channel: 'Direct', ...bob }),
    )
    const found = await Promise.all(
      contractReports.map(async (name) => {
        const data = await world.data(`/stats/${name}`, `range=custom&start=2026-11-14&end=2026-11-14&${filter}`)
        return [name, name === 'overview' ? data.current : data] as const
      }),
    )
    assert.deepEqual(Object.fromEntries(found), annOnly)
  })
