import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { openPostgres } from '../../src/stores/postgres.ts'
import { type Installation, install } from '../support/installation.ts'

let installation: Installation
let footfall: Installation['footfall']
let json: Installation['json']
before(async () => {
  installation = await install()
  ;({ footfall, json } = installation)
})
after(() => installation.remove())

test('goals are created, listed, changed and removed, and the audit log has each change', async (t) => {
  const { id, accountId } = await json('site', 'create', 'example.com')
  const empty = await footfall('goal', 'list', 'example.com')
  assert.match(empty.stdout, /example\.com has no goals yet\. Next: footfall goal create example\.com/)
  assert.deepEqual(await json('goal', 'list', 'example.com'), [])

  const signup = { name: 'Signup', condition: { kind: 'event', event: 'Signup' } }
  const property = { key: 'plan', value: 'pro=1' }
  const pro = { name: 'Pro plan', condition: { kind: 'event', event: 'Signup', property } }
  const blog = { name: 'Blog', condition: { kind: 'path', pattern: '/blog/**' } }
  const create = (name: string, ...options: string[]) => json('goal', 'create', 'example.com', name, ...options)
  assert.deepEqual(await create(' Signup ', '--event', 'Signup'), { id, goal: signup })
  assert.deepEqual(await create('Pro plan', '--event', 'Signup', '--property', 'plan=pro=1'), { id, goal: pro })
  const created = await footfall('goal', 'create', id, 'Blog', '--path', '/blog/**')
  assert.equal(created.stdout, 'example.com has a new goal. Blog: pages /blog/**.\n')
  assert.deepEqual(await json('goal', 'list', id), [blog, pro, signup])
  const list = (await footfall('goal', 'list', id)).stdout
  assert.match(list, /^NAME +REACHED BY\nBlog +pages \/blog\/\*\*\nPro plan +event Signup with plan = pro=1\nSignup +/)
  assert.match((await footfall('site', 'show', id)).stdout, /Goals +Blog: pages \/blog\/\*\*; Pro plan: event/)

  // The name alone keeps the condition; a condition replaces all of the one before.
  const yearly = { ...pro, name: 'Yearly' }
  assert.deepEqual(await json('goal', 'change', id, 'Pro plan', '--name', 'Yearly'), { id, goal: yearly })
  const news = { name: 'Yearly', condition: { kind: 'path', pattern: '/news' } }
  assert.deepEqual(await json('goal', 'change', id, 'Yearly', '--path', '/news'), { id, goal: news })
  assert.deepEqual(await json('goal', 'remove', id, 'Blog'), { id, goal: blog, removed: true })
  assert.equal((await footfall('goal', 'remove', id, 'Signup')).stdout, 'example.com has no goal Signup any more.\n')
  assert.deepEqual(await json('goal', 'list', id), [news])

  const postgres = openPostgres(installation.addresses.postgres, 1)
  t.after(() => postgres.end())
  const entries = await postgres<{ actor: string; action: string; details: string }[]>`
    SELECT actor, action, details FROM audit_log
    WHERE account_id = ${accountId} AND subject = 'example.com' AND action LIKE 'goal.%' ORDER BY id`
  assert.ok(entries.every(({ actor }) => actor === 'command line'))
  assert.deepEqual(
    entries.map(({ action, details }) => [action, details]),
    [
      ['goal.created', 'Signup: event Signup'],
      ['goal.created', 'Pro plan: event Signup with plan = pro=1'],
      ['goal.created', 'Blog: pages /blog/**'],
      ['goal.changed', 'Pro plan: event Signup with plan = pro=1 → Yearly: event Signup with plan = pro=1'],
      ['goal.changed', 'Yearly: event Signup with plan = pro=1 → Yearly: pages /news'],
      ['goal.deleted', 'Blog'],
      ['goal.deleted', 'Signup'],
    ],
  )
})

test('what cannot be a goal is refused with advice, and nothing changes', async () => {
  const { id } = await json('site', 'create', 'wrong.example')
  const signup = await json('goal', 'create', id, 'Signup', '--event', 'Signup')
  for (const [words, hint] of [
    [['create', id, 'Signup', '--path', '/'], /already a goal Signup\.\n {2}Choose another name/],
    [['create', id, 'A'], /needs an event or a path/],
    [['create', id, 'A', '--event', 'Buy', '--path', '/'], /an event or a path, not both/],
    [['create', id, 'A', '--path', 'blog'], /begins with a slash\.\n {2}Write it from the first slash on/],
    [['create', id, 'A', '--property', 'plan=pro'], /needs an event or a path/],
    [['create', id, 'A', '--event', 'Buy', '--property', 'plan'], /<key>=<value>, such as plan=pro/],
    [['create', id], /This command takes <site> <name>/],
    [['create', 'nowhere.example', 'A', '--event', 'Buy'], /footfall site list/],
    [['change', id, 'Signup'], /Use --name, --event or --path/],
    [['change', id, 'Signup', '--property', 'plan=pro'], /needs an event or a path/],
    [
      ['change', id, 'Other', '--name', 'A'],
      /no goal Other\.\n {2}See them all with: footfall goal list wrong\.example/,
    ],
    [['remove', id, 'Other'], /no goal Other/],
  ] as const) {
    const { code, stderr, stdout } = await footfall('goal', ...words)
    assert.deepEqual([code, stdout], [1, ''], words.join(' '))
    assert.match(stderr, hint)
  }
  assert.deepEqual(await json('goal', 'list', id), [signup.goal])
})
