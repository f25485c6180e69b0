// What people enter for a goal, and what is stored of it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { conditionOf, type EnteredCondition, goalNameOf, goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { InvalidSetting } from '../../src/accounts/site-rules.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { openStores } from '../support/stores.ts'

const refuses = (make: () => unknown, message: RegExp) =>
  assert.throws(make, (error) => error instanceof InvalidSetting && message.test(error.message) && error.advice !== '')

test('blanks around what people copy are removed, those inside stay', () => {
  assert.deepEqual(goalOf(' Pro  plan ', { event: '\tBuy now ', property: { key: ' plan ', value: ' a  b ' } }), {
    name: 'Pro  plan',
    condition: { kind: 'event', event: 'Buy now', property: { key: 'plan', value: 'a  b' } },
  })
  assert.deepEqual(conditionOf({ pattern: ' /blog/** ' }), { kind: 'path', pattern: '/blog/**' })
})

test('a pattern is stored as browsers send paths', () => {
  for (const [entered, stored] of [
    ['/', '/'],
    ['/**', '/**'],
    ['/café', '/caf%C3%A9'],
    ['/caf%C3%A9', '/caf%C3%A9'],
    ['/a b/*', '/a%20b/*'],
    ['//cdn//x', '//cdn//x'],
    ['/blog/../news/*', '/news/*'],
    ['/a|b(c)[d].$', '/a|b(c)[d].$'],
    ['/100%', '/100%'],
  ] as const)
    assert.deepEqual(conditionOf({ pattern: entered }), { kind: 'path', pattern: stored }, entered)
})

test('what cannot be a goal is refused with advice', () => {
  refuses(() => goalNameOf('  '), /name of the goal is missing/)
  refuses(() => goalNameOf('a'.repeat(61)), /too long: it may have 60/)
  refuses(() => goalNameOf('two\nlines'), /plain text in one line/)
  refuses(() => goalNameOf('half \ud800 of a pair'), /plain text in one line/)
  for (const [condition, message] of [
    [{}, /needs an event or a path/],
    [{ property: { key: 'plan', value: 'pro' } }, /needs an event or a path/],
    [{ event: 'Signup', pattern: '/' }, /not both/],
    [{ pattern: '/', property: { key: 'plan', value: 'pro' } }, /not both/],
    [{ event: ' ' }, /name of the event is missing/],
    [{ event: 'a'.repeat(121) }, /may have 120/],
    [{ event: 'pageview' }, /no custom events/],
    [{ event: 'Signup', property: { key: '', value: 'pro' } }, /name of the property is missing/],
    [{ event: 'Signup', property: { key: 'the plan', value: 'pro' } }, /not the name of a property/],
    [{ event: 'Signup', property: { key: 'a'.repeat(61), value: 'pro' } }, /not the name of a property/],
    [{ event: 'Signup', property: { key: 'plan', value: '' } }, /value of the property is missing/],
    [{ event: 'Signup', property: { key: 'plan', value: 'a'.repeat(201) } }, /may have 200/],
    [{ pattern: '' }, /path is missing/],
    [{ pattern: 'blog/**' }, /begins with a slash/],
    [{ pattern: 'https://example.com/blog' }, /begins with a slash/],
    [{ pattern: '/search?q=*' }, /ends before/],
    [{ pattern: '/a#b' }, /ends before/],
    [{ pattern: `/${'a'.repeat(500)}` }, /may have 500/],
    // Each letter becomes six characters.
    [{ pattern: `/${'ü'.repeat(84)}` }, /may have 500/],
    [{ pattern: '/*'.repeat(11) }, /at most 10 wildcards/],
  ] as [EnteredCondition, RegExp][])
    refuses(() => conditionOf(condition), message)
  assert.equal(conditionOf({ pattern: '/**'.repeat(10) }).kind, 'path')
})

test('the table accepts the longest of what the rules accept', async () => {
  const { postgres } = await openStores()
  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Starter' })
  const siteId = await createSite(postgres, { accountId, domain: `${randomUUID()}.example` })
  const property = { key: 'k'.repeat(60), value: '𝒗'.repeat(100) }
  await createGoal(postgres, siteId, goalOf('𝒏'.repeat(30), { event: '𝒆'.repeat(60), property }))
  await createGoal(postgres, siteId, goalOf('n'.repeat(60), { pattern: `/${'ü'.repeat(83)}` }))
})
