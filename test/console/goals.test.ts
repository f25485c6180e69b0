import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createGoal, deleteGoal } from '../../src/accounts/goals.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { findSite } from '../../src/accounts/sites.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, forgottenBy, mainOf, openConsole } from './console.ts'

const none = { name: '', event: '', property: '', value: '', path: '' }
const eventFields = { ...none, name: 'Signup', kind: 'event', event: 'Signup' }
const pathFields = { ...none, name: 'Blog', kind: 'path', path: '/blog/**' }

async function openGoals(t: TestContext) {
  const console = await openConsole(t)
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
