import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openProfile } from './browser-profile.ts'
import { openRecordingSite, page, queue, tag } from './recording-site.ts'

test('properties and revenue are sent with their event and no other', async (t) => {
  const site = await openRecordingSite(t, (src) => ({ '/': page('Home', tag(src)) }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.evaluate(
    "footfall('Signup', { props: { plan: 'pro', seats: 3 }, revenue: { amount: '19.90', currency: 'EUR' } })",
  )
  await site.arrived(2)
  await tab.evaluate("footfall('Plain'); footfall('Null', null); footfall('Empty', {})")
  await site.arrived(5)
  const [view, signup, ...others] = site.events
  assert.deepEqual(
    { ...signup, id: '' },
    {
      n: 'Signup',
      u: `${site.origin}/`,
      d: 'site.example',
      r: '',
      t: 'Home',
      id: '',
      p: { plan: 'pro', seats: 3 },
      $: { amount: '19.90', currency: 'EUR' },
    },
  )
  assert.equal(others.length, 3)
  for (const event of [view, ...others]) assert.deepEqual(Object.keys(event ?? {}), ['n', 'u', 'd', 'r', 'id', 't'])
})

test('an event before the script loads keeps its properties and revenue', async (t) => {
  const calls =
    "footfall('early', { props: { plan: 'pro' } }); footfall('Paid', { revenue: { amount: 5, currency: 'USD' } })"
  const site = await openRecordingSite(t, (src) => ({
    '/': page('Home', `${queue}<script>${calls}</script>${tag(src)}`),
  }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(3)
  const sent = site.events.map(({ n, p, $ }) => [n, p, $])
  assert.deepEqual(sent.toSorted(), [
    ['Paid', undefined, { amount: 5, currency: 'USD' }],
    ['early', { plan: 'pro' }, undefined],
    ['pageview', undefined, undefined],
  ])
})

test('in a single-page application properties belong to the event, not to the view that waits for its title', async (t) => {
  const site = await openRecordingSite(t, (src) => ({ '*': page('Start', tag(src)) }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.evaluate("history.pushState({}, '', '/cart'); footfall('Add', { props: { item: 'Lamp' } })")
  await site.arrived(3)
  await tab.goBack()
  await site.arrived(4)
  const sent = site.events.map(({ n, u, p }) => [`${n} ${new URL(u).pathname}`, p])
  assert.deepEqual(sent.toSorted(), [
    ['Add /cart', { item: 'Lamp' }],
    ['pageview /', undefined],
    ['pageview /', undefined],
    ['pageview /cart', undefined],
  ])
})

test('an event that is sent again has the properties it had at first', async (t) => {
  const site = await openRecordingSite(t, (src) => ({ '/': page('Home', tag(src)) }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  site.answer(503)
  await tab.evaluate("const props = { step: 1 }; footfall('Step', { props }); props.step = 2")
  await site.arrived(2)
  assert.equal(site.requests.length, 3)
  assert.deepEqual(site.events[1]?.p, { step: 1 })
})

test('properties that JSON cannot have do not break the page, and later events arrive', async (t) => {
  const site = await openRecordingSite(t, (src) => ({ '/': page('Home', tag(src)) }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  const went =
    "const props = {}; props.self = props; footfall('Cycle', { props }); history.pushState({}, '', '/next'); 'on'"
  assert.equal(await tab.evaluate(went), 'on')
  await site.arrived(2)
  assert.deepEqual(site.seen(), ['pageview /', 'pageview /next'])
})
