// The list of goals: what every record has, and that it passes the gate of all other endpoints with a key.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createGoal, deleteGoal } from '../../../src/accounts/goals.ts'
import { createKey, deleteKey, setKeyDisabled } from '../../../src/accounts/keys.ts'
import { memoryLimiter } from '../../../src/api/rate-limit.ts'
import type { Goal } from '../../../src/traffic/goals.ts'
import { keySecrets } from '../../support/stores.ts'
import { openWorld, type World, type WorldOptions } from '../../support/world.ts'
import { as, codeOf, foreignSite, newAccountKey, newSite, noon, rateLimitOf, refused, times } from '../vocabulary.ts'

const signup: Goal = { name: 'Signup', condition: { kind: 'event', event: 'Signup' } }
const pro: Goal = {
  name: 'pro plan, yearly',
  condition: { kind: 'event', event: 'Buy', property: { key: 'plan', value: 'pro "yearly"' } },
}
const blog: Goal = { name: 'Blog', condition: { kind: 'path', pattern: '/blog/**' } }
const umlaut: Goal = { name: 'Übersicht', condition: { kind: 'path', pattern: '/%C3%BCbersicht' } }

async function openShop(t: TestContext, options: WorldOptions = {}) {
  const world = await openWorld(t, { now: noon, ...options })
  return {
    world,
    add: async (...goals: Goal[]) => {
      for (const goal of goals) await createGoal(world.stores.postgres, world.siteId, goal)
      world.api.directory.forget(world.siteId)
    },
    get: (query = '', init: RequestInit = {}) => getGoals(world, query, init),
  }
}

const getGoals = (world: World, query: string, init: RequestInit = {}) =>
  world.api.fetch(`/api/v2/goals${query && `?${query}`}`, {
    ...init,
    headers: { Authorization: `Bearer ${world.key.text}`, ...(init.headers as Record<string, string>) },
  })

test('goals are listed by name, by code point; a site without goals has an empty list', async (t) => {
  const { world, add, get } = await openShop(t)
  const meta = { site_id: world.siteId, generated_at: '2026-11-15T12:00:00.000Z' }
  assert.deepEqual((await get()).json, { data: [], meta })

  await add(signup, umlaut, pro, blog)
  const answer = await get()
  assert.equal(answer.status, 200)
  assert.equal(
    answer.text,
    `{"data":[${[
      '{"name":"Blog","kind":"path","path":"/blog/**"}',
      '{"name":"Signup","kind":"event","event":"Signup"}',
      '{"name":"pro plan, yearly","kind":"event","event":"Buy","property":{"key":"plan","value":"pro \\"yearly\\""}}',
      '{"name":"Übersicht","kind":"path","path":"/%C3%BCbersicht"}',
    ].join()}],"meta":{"site_id":"${world.siteId}","generated_at":"2026-11-15T12:00:00.000Z"}}`,
  )
})

test('a refusal names the goals that there are, at most twenty: not every caller has a list of them', async (t) => {
  const { world, add } = await openShop(t)
  const messageOf = async (query: string) => (await world.ask('totals', query)).json.error.message
  assert.equal(await messageOf('goal=Sale'), 'The site has no goal of this name. There are none yet.')
  await add(signup)
  assert.match(await messageOf('goal=Sale'), /\. There is "Signup"\.$/)
  await add(pro)
  const both = 'There are "Signup", "pro plan, yearly".'
  assert.equal(await messageOf('metrics=conversions'), `conversions and conversion_rate need goal. ${both}`)
  assert.equal(await messageOf('goal=Sale'), `The site has no goal of this name. ${both}`)
  assert.equal(await messageOf('filter=goal:is:Sale'), `The site has no goal of this name. ${both}`)
  const name = (number: number) => `A${String(number).padStart(2, '0')}`
  await add(...Array.from({ length: 20 }, (_, number) => ({ ...signup, name: name(number) })))
  assert.match(await messageOf('goal=Sale'), /There are "A00", "A01", .*, "A19" and 2 more\.$/)
})

test('every listed name is one that the questions take', async (t) => {
  const { world, add, get } = await openShop(t)
  await add(signup, umlaut, pro, blog)
  for (const { name } of (await get()).json.data) {
    const query = { range: '7d', metrics: 'conversions', goal: name }
    assert.deepEqual((await world.ask('totals', query)).json.data, { conversions: 0 }, name)
  }
})

test('the answer has the headers of every endpoint with a key, and counts as one request', async (t) => {
  const { get } = await openShop(t, { limiter: memoryLimiter(() => Date.parse(noon)) })
  const [first, second] = [await get(), await get()]
  assert.equal(first.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(first.headers.get('cache-control'), 'private, no-cache')
  assert.equal(first.headers.get('vary'), 'Authorization, Accept-Encoding')
  assert.equal(first.headers.get('access-control-allow-origin'), '*')
  for (const name of ['stats-warning', 'stats-period', 'set-cookie']) assert.equal(first.headers.get(name), null, name)
  assert.equal((rateLimitOf(first)?.remaining ?? 0) - 1, rateLimitOf(second)?.remaining)
  const head = await get('', { method: 'HEAD' })
  assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', first.headers.get('etag')])
  refused(await get('', { method: 'POST' }), 405, 'method_not_allowed')
})

test('the tag stays while the goals do, and changes with them', async (t) => {
  const { world, add, get } = await openShop(t)
  await add(signup)
  const etag = (await get()).headers.get('etag') as string
  world.setNow('2026-11-15T13:00:00Z')
  const same = await get('', { headers: { 'If-None-Match': etag } })
  assert.deepEqual([same.status, same.text], [304, ''])
  await add(blog)
  const changed = await get('', { headers: { 'If-None-Match': etag } })
  assert.equal(changed.status, 200)
  await deleteGoal(world.stores.postgres, world.siteId, blog.name)
  world.api.directory.forget(world.siteId)
  assert.equal((await get()).headers.get('etag'), etag)
})

test('a key of the account names the site, and sees the goals of no other', async (t) => {
  const { world, add } = await openShop(t)
  await add(signup)
  const { text } = await newAccountKey(world)
  const other = await newSite(world)
  const names = async (siteId: string) =>
    (await getGoals(world, `site_id=${siteId}`, as(text))).json.data.map(({ name }: Goal) => name)
  assert.deepEqual(await names(world.siteId), ['Signup'])
  assert.deepEqual(await names(other), [])
  refused(await getGoals(world, '', as(text)), 400, 'site_required')
  const foreign = await getGoals(world, `site_id=${await foreignSite(world.stores)}`, as(text))
  refused(foreign, 403, 'forbidden')
  assert.deepEqual((await getGoals(world, 'site_id=site_aaaaaaaaaaaaaaaa', as(text))).json, foreign.json)
})

test('refusals come in the order of the contract', async (t) => {
  const limiter = memoryLimiter(() => Date.parse(noon))
  const { world } = await openShop(t, { limiter, plan: 'Starter' })
  const { accountId, siteId, stores } = world
  const newKey = async (more: { expiresAt?: Date } = {}) =>
    (await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key', ...more })) as typeof world.key
  const wrong = 'site_id=&Site_id=x'
  const ask = async (key: string, query = wrong) => codeOf(await getGoals(world, query, as(key)))

  assert.equal(codeOf(await getGoals(world, wrong, { headers: { Authorization: 'Basic x' } })), 'unauthorized')
  const deleted = await newKey()
  await deleteKey(stores.postgres, deleted.id)
  assert.equal(await ask(deleted.text), 'invalid_key')
  const disabled = await newKey({ expiresAt: new Date('2020-01-01') })
  await setKeyDisabled(stores.postgres, disabled.id, true)
  assert.equal(await ask(disabled.text), 'key_disabled')
  assert.equal(await ask((await newKey({ expiresAt: new Date('2020-01-01') })).text), 'key_expired')
  const busy = await newKey()
  await Promise.all(times(1_000, () => limiter.spend(busy.id, 1_000)))
  assert.equal(await ask(busy.text), 'rate_limit_exceeded')
  assert.equal(await ask((await newKey()).text), 'invalid_parameter')
  assert.equal(await ask((await newKey()).text, `site_id=${await foreignSite(stores)}&Site_id=x`), 'forbidden')
  await world.changePlan('Free')
  assert.equal(await ask(busy.text), 'plan_required')
})

test('parameters that it does not take are named in a warning, and other spellings of site_id are refused', async (t) => {
  const { world, get } = await openShop(t)
  const warning = async (query: string) => (await get(query)).headers.get('stats-warning')
  assert.equal(await warning(`site_id=${world.siteId}`), null)
  assert.equal(
    await warning('x=1&range=nonsense&filter=page:is:/'),
    'unknown parameter x was ignored; unknown parameter filter was ignored; range has no effect on this endpoint',
  )
  for (const query of [`Site_id=${world.siteId}`, `site_id[]=${world.siteId}`, 'site_id=', 'site_id=a&site_id=a'])
    refused(await get(query), 400, 'invalid_parameter')
  refused(await get(times(33, (index) => `x${index}=1`).join('&')), 400, 'invalid_parameter')
})
