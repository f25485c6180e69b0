import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createGoal, deleteGoal } from '../../src/accounts/goals.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { findSite } from '../../src/accounts/sites.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { type ConsoleOptions, entriesOf, forgottenBy, mainOf, openConsole } from './console.ts'
import { decode } from './dashboard-page.ts'

const none = { name: '', event: '', property: '', value: '', path: '' }
const eventFields = { ...none, name: 'Signup', kind: 'event', event: 'Signup' }
const pathFields = { ...none, name: 'Blog', kind: 'path', path: '/blog/**' }

async function openGoals(t: TestContext, options: ConsoleOptions = {}) {
  const console = await openConsole(t, options)
  const { stores, siteId, domain } = console
  return {
    console,
    page: `/sites/${domain}/settings/goals`,
    stored: async () => (await findSite(stores.postgres, siteId))?.goals,
  }
}

const rowsOf = (text: string): string[] =>
  Array.from(text.matchAll(/<tr><th scope="row">(.*?)<\/td>/gs), ([, row]) =>
    (row as string)
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )

test('a goal is added, changed and removed; the API answers with it at once, and the log names it', async (t) => {
  const { console, page, stored } = await openGoals(t)
  const { stores, accountId, siteId, domain } = console
  const owner = await console.signedIn('owner')
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key' })
  const listed = async () =>
    (await console.api.fetch('/api/v2/goals', { headers: { Authorization: `Bearer ${key.text}` } })).json.data
  assert.deepEqual(await listed(), [])
  assert.match((await owner.get(page)).text, /has no goals yet/)

  const forgotten = forgottenBy(console)
  const added = await owner.post(page, page, { ...eventFields, property: ' plan ', value: 'pro', path: '/typed' })
  assert.deepEqual([added.status, added.headers.get('location')], [303, `${page}?done=added`])
  assert.deepEqual(forgotten, [siteId])
  const property = { key: 'plan', value: 'pro' }
  assert.deepEqual(await listed(), [{ name: 'Signup', kind: 'event', event: 'Signup', property }])
  await owner.post(page, page, pathFields)
  const list = (await owner.get(`${page}?done=added`)).text
  assert.match(list, /The goal is added/)
  assert.match(list, /2 goals/)
  assert.deepEqual(rowsOf(list), ['Blog Page /blog/**', 'Signup Event Signup with plan = pro'])

  const change = `${page}/change`
  const form = (await owner.get(`${change}?goal=Signup`)).text
  assert.match(form, /name="name"[^>]* value="Signup"/)
  assert.match(form, /name="property"[^>]* value="plan"/)
  assert.match(form, /value="event" checked/)
  const changed = await owner.post(`${change}?goal=Signup`, change, { ...pathFields, name: 'News', goal: 'Signup' })
  assert.deepEqual([changed.status, changed.headers.get('location')], [303, `${page}?done=changed`])
  assert.deepEqual(await stored(), [
    { name: 'Blog', condition: { kind: 'path', pattern: '/blog/**' } },
    { name: 'News', condition: { kind: 'path', pattern: '/blog/**' } },
  ])

  const removed = await owner.post(page, `${page}/remove`, { goal: 'Blog' })
  assert.deepEqual([removed.status, removed.headers.get('location')], [303, `${page}?done=removed`])
  assert.deepEqual(await listed(), [{ name: 'News', kind: 'path', path: '/blog/**' }])
  const all = { actor: owner.email, address: '127.0.0.0' }
  assert.deepEqual(await entriesOf(console, domain), [
    [all.actor, 'goal.created', 'Signup: event Signup with plan = pro', all.address],
    [all.actor, 'goal.created', 'Blog: pages /blog/**', all.address],
    [all.actor, 'goal.changed', 'Signup: event Signup with plan = pro → News: pages /blog/**', all.address],
    [all.actor, 'goal.deleted', 'Blog', all.address],
  ])
})

test('a mistake shows the form again with what was typed, and stores nothing', async (t) => {
  const { console, page, stored } = await openGoals(t)
  const owner = await console.signedIn('owner')
  await owner.post(page, page, eventFields)
  const before = await stored()
  const change = `${page}/change`
  for (const [action, fields, message] of [
    [page, { ...pathFields, path: 'blog?"' }, /A path begins with a slash/],
    [page, { ...eventFields, name: '' }, /name of the goal is missing/],
    [page, { ...eventFields, event: '<b>Buy', value: 'pro' }, /name of the property is missing/],
    [page, eventFields, /already a goal Signup/],
    [page, {}, /name of the goal is missing/],
    [change, { ...eventFields, goal: 'Signup', event: '<b>Buy', value: 'pro' }, /name of the property is missing/],
    [change, { goal: 'Signup' }, /name of the goal is missing/],
  ] as const) {
    const refused = await owner.post(page, action, fields)
    assert.equal(refused.status, 422)
    assert.match(refused.text, message)
    assert.doesNotMatch(refused.text, /<b>Buy/)
  }
  const wrong = await owner.post(page, page, { ...pathFields, path: 'blog?"', event: 'Typed before' })
  assert.match(wrong.text, /name="path"[^>]* value="blog\?&#34;"/)
  assert.match(wrong.text, /value="path" checked/)
  assert.match(wrong.text, /name="event"[^>]* value="Typed before"/)
  assert.deepEqual(await stored(), before)
})

test('saving a goal as it is changes nothing and records nothing', async (t) => {
  const { console, page } = await openGoals(t)
  const owner = await console.signedIn('owner')
  await owner.post(page, page, eventFields)
  const saved = await owner.post(page, `${page}/change`, { ...eventFields, goal: 'Signup' })
  assert.equal(saved.status, 303)
  assert.equal((await entriesOf(console, console.domain)).length, 1)
})

test('a goal that somebody else has removed is unknown', async (t) => {
  const { console, page } = await openGoals(t)
  const owner = await console.signedIn('owner')
  await owner.post(page, page, eventFields)
  await deleteGoal(console.stores.postgres, console.siteId, 'Signup')
  assert.equal((await owner.get(`${page}/change?goal=Signup`)).status, 404)
  assert.equal((await owner.get(`${page}/change`)).status, 404)
  for (const action of ['change', 'remove'])
    assert.equal((await owner.post(page, `${page}/${action}`, { ...eventFields, goal: 'Signup' })).status, 404, action)
})

test('a viewer sees the goals and cannot change them', async (t) => {
  const { console, page, stored } = await openGoals(t)
  const goal = { name: 'Signup', condition: { kind: 'event', event: 'Signup' } } as const
  await createGoal(console.stores.postgres, console.siteId, goal)
  const viewer = await console.signedIn('viewer')
  const text = mainOf(await viewer.get(page))
  assert.deepEqual(rowsOf(text), ['Signup Event Signup'])
  assert.doesNotMatch(text, /<form|<input|goals\/change/)
  assert.match(text, /can change the goals/)
  assert.equal((await viewer.get(`${page}/change?goal=Signup`)).status, 403)
  for (const action of [page, `${page}/change`, `${page}/remove`])
    assert.equal((await viewer.post('/account', action, { ...eventFields, goal: 'Signup' })).status, 403, action)
  assert.deepEqual(await stored(), [goal])
  assert.deepEqual(await entriesOf(console, console.domain), [])
})

test('names that look like parts of an address lead to their own goal', async (t) => {
  const { console, page, stored } = await openGoals(t)
  const owner = await console.signedIn('owner')
  for (const name of ['a&goal=b', 'a/../b', '50% + 1', 'é "quoted"'])
    await owner.post(page, page, { ...eventFields, name })
  const links = Array.from((await owner.get(page)).text.matchAll(/href="([^"]*goals\/change[^"]*)"/g), ([, link]) =>
    (link as string).replaceAll('&#38;', '&'),
  )
  const heads: string[] = []
  for (const link of links) heads.push(/<h2 class="key-name">(.*?)<\/h2>/.exec((await owner.get(link)).text)?.[1] ?? '')
  assert.deepEqual(heads, ['50% + 1', 'a/../b', 'a&#38;goal=b', 'é &#34;quoted&#34;'].toSorted())
  assert.equal((await stored())?.length, 4)
})

test('an event or a page becomes a goal in two clicks, and the chart shows it', async (t) => {
  const { console, page, stored } = await openGoals(t, { now: '2026-11-15T12:00:00Z' })
  const { stores, siteId, domain } = console
  const hits = [
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'a', pathname: '/caf%C3%A9', title: 'A café' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'b', pathname: '/a*b' }),
    custom('Sign up', { at: '2026-11-14T10:01:00Z', visitor: 'a' }),
    custom(' ', { at: '2026-11-14T10:01:00Z', visitor: 'a' }),
  ]
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const dashboard = `/sites/${domain}`
  const links = async (query: string, visitor = owner) =>
    Array.from(
      (await visitor.get(`${dashboard}?${query}`)).text.matchAll(
        /<a class="to-goal" href="([^"]*)" aria-label="([^"]*)"/g,
      ),
      ([, href = '', label = '']) => [decode(label), decode(href)],
    )
  const form = (fields: Record<string, string>) => `${page}/new?${new URLSearchParams(fields)}`
  const ofPage = form({ name: 'Visit /café', kind: 'path', path: '/caf%C3%A9', back: 'range=7d' })
  const ofEvent = form({ name: 'Sign up', kind: 'event', event: 'Sign up', back: 'range=7d' })
  // A pattern and a name of blanks are no goals that one click could make.
  const expected = [
    ['Make /café – A café a goal', ofPage],
    ['Make Sign up a goal', ofEvent],
  ]
  assert.deepEqual(await links('range=7d'), expected)
  assert.deepEqual(await links('range=7d', viewer), [])
  assert.deepEqual(await links('range=7d&more=event'), expected.slice(1))
  const filtered = (await owner.get(`${dashboard}?range=7d&filter=event:is:Sign+up`)).text
  assert.match(filtered, /<a class="of-filters" href="[^"]*goals\/new[^"]*">Make it a goal<\/a>/)

  const shown = (await owner.get(ofPage)).text
  assert.match(shown, /name="name"[^>]* value="Visit \/café"/)
  assert.match(shown, /value="path" checked/)
  const fields = Object.fromEntries(new URL(ofPage, 'https://a.example').searchParams)
  const saved = await owner.post(ofPage, page, fields)
  const chart = `${dashboard}?${new URLSearchParams({ range: '7d', metric: 'conversions', goal: 'Visit /café' })}`
  assert.deepEqual([saved.status, saved.headers.get('location')], [303, chart])
  assert.deepEqual(await stored(), [{ name: 'Visit /café', condition: { kind: 'path', pattern: '/caf%C3%A9' } }])
  assert.match((await owner.get(chart)).text, /id="metric-conversions"[^>]* aria-current="true"/)

  // What is a goal already has no link, and a name that is taken gets a number.
  await createGoal(stores.postgres, siteId, { name: 'Sign up', condition: { kind: 'path', pattern: '/signup' } })
  console.api.directory.forget(siteId)
  const numbered = { name: 'Sign up 2', kind: 'event', event: 'Sign up', back: 'range=7d' }
  assert.deepEqual(await links('range=7d&actions=event'), [
    ['Make Sign up a goal', form({ ...numbered, back: 'range=7d&actions=event' })],
  ])
  const again = await owner.post(ofPage, page, { ...fields, kind: 'path' })
  assert.deepEqual([again.status, /There is already a goal/.test(again.text)], [422, true])
  assert.match(again.text, /name="back" value="range=7d"/)
})
