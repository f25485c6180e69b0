import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createGoal, deleteGoal, replaceGoal } from '../../src/accounts/goals.ts'
import { InvalidSetting } from '../../src/accounts/site-rules.ts'
import { createSite, deleteSite, findSite } from '../../src/accounts/sites.ts'
import type { Goal } from '../../src/traffic/goals.ts'
import { openStores } from '../support/stores.ts'

const signup: Goal = { name: 'Signup', condition: { kind: 'event', event: 'Signup' } }
const pro: Goal = {
  name: 'Pro plan',
  condition: { kind: 'event', event: 'Buy', property: { key: 'plan', value: 'pro' } },
}
const blog: Goal = { name: 'Blog', condition: { kind: 'path', pattern: '/blog/**' } }

async function openSite() {
  const { postgres } = await openStores()
  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Starter' })
  const siteId = await createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
  return { postgres, accountId, siteId, goals: async () => (await findSite(postgres, siteId))?.goals }
}

test('a site has its goals in the order of their names; a new site has none', async () => {
  const { postgres, siteId, goals } = await openSite()
  assert.deepEqual(await goals(), [])
  // By code point: capitals come before small letters, whatever the collation of the database.
  const other: Goal = { name: 'about', condition: { kind: 'path', pattern: '/about' } }
  for (const goal of [signup, other, pro, blog]) await createGoal(postgres, siteId, goal)
  assert.deepEqual(await goals(), [blog, pro, signup, other])
})

test('a replaced goal keeps nothing of its earlier condition; a deleted one is gone', async () => {
  const { postgres, siteId, goals } = await openSite()
  await createGoal(postgres, siteId, pro)
  await replaceGoal(postgres, siteId, pro.name, { ...blog, name: pro.name })
  assert.deepEqual(await goals(), [{ ...blog, name: pro.name }])
  await replaceGoal(postgres, siteId, pro.name, signup)
  assert.deepEqual(await goals(), [signup])
  await deleteGoal(postgres, siteId, signup.name)
  assert.deepEqual(await goals(), [])
})

test('goals of other sites stay as they are', async () => {
  const [one, other] = [await openSite(), await openSite()]
  for (const { postgres, siteId } of [one, other]) await createGoal(postgres, siteId, signup)
  await replaceGoal(one.postgres, one.siteId, 'Signup', blog)
  assert.deepEqual(await other.goals(), [signup])
  await createGoal(one.postgres, one.siteId, signup)
  await deleteGoal(one.postgres, one.siteId, 'Signup')
  assert.deepEqual(await other.goals(), [signup])
  assert.deepEqual(await one.goals(), [blog])
})

test('a name is taken once per site, and an unknown goal cannot be changed or deleted', async () => {
  const { postgres, siteId } = await openSite()
  await createGoal(postgres, siteId, signup)
  await createGoal(postgres, siteId, blog)
  const taken = (error: unknown) => error instanceof InvalidSetting && /already a goal Signup/.test(error.message)
  await assert.rejects(createGoal(postgres, siteId, signup), taken)
  await assert.rejects(replaceGoal(postgres, siteId, 'Blog', signup), taken)
  const unknown = (error: unknown) => error instanceof InvalidSetting && /no goal Other/.test(error.message)
  await assert.rejects(replaceGoal(postgres, siteId, 'Other', pro), unknown)
  await assert.rejects(deleteGoal(postgres, siteId, 'Other'), unknown)
  await assert.rejects(createGoal(postgres, 'site_aaaaaaaaaaaaaaaa', signup), /The site was deleted/)
})

test('a site has at most 100 goals, also if two are created at the same time', async () => {
  const { postgres, siteId, goals } = await openSite()
  const numbered = (number: number): Goal => ({ ...signup, name: `Goal ${number}` })
  for (let number = 1; number <= 99; number++) await createGoal(postgres, siteId, numbered(number))
  const both = await Promise.allSettled([100, 101].map((number) => createGoal(postgres, siteId, numbered(number))))
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await assert.rejects(createGoal(postgres, siteId, numbered(102)), /at most 100 goals/)
  assert.equal((await goals())?.length, 100)
})

test('the table itself refuses goals that no form makes', async () => {
  const { postgres, siteId } = await openSite()
  const refused: [string, Record<string, string>][] = [
    ['no condition', { name: 'A' }],
    ['two conditions', { name: 'A', event: 'Signup', path: '/' }],
    ['no name', { name: '', event: 'Signup' }],
    ['a long name', { name: 'a'.repeat(61), event: 'Signup' }],
    ['a long event', { name: 'A', event: 'a'.repeat(121) }],
    ['an empty event', { name: 'A', event: '' }],
    ['a key without a value', { name: 'A', event: 'Signup', property_key: 'plan' }],
    ['a value without a key', { name: 'A', event: 'Signup', property_value: 'pro' }],
    ['a wrong key', { name: 'A', event: 'Signup', property_key: 'a plan', property_value: 'pro' }],
    ['a long value', { name: 'A', event: 'Signup', property_key: 'plan', property_value: 'a'.repeat(201) }],
    ['a property of a path', { name: 'A', path: '/', property_key: 'plan', property_value: 'pro' }],
    ['a relative path', { name: 'A', path: 'blog' }],
    ['a long path', { name: 'A', path: `/${'a'.repeat(500)}` }],
  ]
  for (const [what, row] of refused) {
    const isRefused = (error: unknown) => (error as { code?: string }).code === '23514'
    await assert.rejects(postgres`INSERT INTO goals ${postgres({ site_id: siteId, ...row })}`, isRefused, what)
  }
})

test('goals are gone with their site', async () => {
  const { postgres, siteId } = await openSite()
  await createGoal(postgres, siteId, signup)
  await deleteSite(postgres, siteId)
  assert.deepEqual([...(await postgres`SELECT FROM goals WHERE site_id = ${siteId}`)], [])
})
