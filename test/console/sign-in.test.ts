import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConsole, password } from './console.ts'

test('signing in leads to the sites, with a new session', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const visitor = console.stranger()

  const first = await visitor.get('/')
  assert.equal(first.status, 303)
  assert.equal(first.headers.get('location'), '/login?next=%2F')

  const wrong = await visitor.post('/login', '/login', { email, password: 'not this one' })
  assert.equal(wrong.status, 401)
  assert.match(wrong.text, /Email or password is not right/)

  const right = await visitor.post('/login?next=%2F', '/login', { email: email.toUpperCase(), password, next: '/' })
  assert.equal(right.status, 303)
  assert.equal(right.headers.get('location'), '/')
  const sites = await visitor.get('/')
  assert.equal(sites.status, 200)
  assert.ok(sites.text.includes(console.domain))
})

test('signing out ends the session for good', async (t) => {
  const console = await openConsole(t)
  const visitor = await console.signedIn('viewer')
  const before = new Map(visitor.cookies)
  const out = await visitor.post('/account', '/logout')
  assert.equal(out.headers.get('location'), '/login')
  for (const [name, value] of before) visitor.cookies.set(name, value)
  assert.equal((await visitor.get('/')).status, 303)
})

test('sites of other accounts look like sites that do not exist', async (t) => {
  const console = await openConsole(t)
  const other = await console.addAccount()
  const visitor = await console.signedIn('owner')
  const foreign = await visitor.get(`/sites/${other.domain}/settings`)
  const unknown = await visitor.get('/sites/unknown.example/settings')
  assert.deepEqual([foreign.status, foreign.text], [404, unknown.text])
})
