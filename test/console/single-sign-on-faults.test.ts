// A provider that is down, slow or broken: people get a page with a way back, and passwords work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTime } from '../support/in-time.ts'
import { password } from './console.ts'
import { addConnected, goThere, openSignOn, type SignOnConsole, signOn } from './single-sign-on.ts'

async function assertDown({ stranger }: SignOnConsole, path: string, visitor = stranger()): Promise<void> {
  const { status, text } = await visitor.get(path)
  assert.equal(status, 503)
  assert.match(text, /cannot be reached at the moment[\s\S]*href="\/login"/)
}

async function assertPasswordWorks(console: SignOnConsole): Promise<void> {
  const { email } = await console.addUser('viewer')
  const began = performance.now()
  const page = await console.stranger().post('/login', '/login', { email, password })
  assert.equal(page.status, 303)
  inTime(performance.now() - began < 3_000, 'a password took 3 s')
}

test('a provider that is down blocks neither the console nor passwords', async (t) => {
  const console = await openSignOn(t)
  await console.provider.stop()
  assert.equal((await console.stranger().get('/login')).status, 200)
  await assertDown(console, '/login/oidc')
  await assertPasswordWorks(console)
  const visitor = await console.signedIn('viewer')
  assert.equal((await visitor.get('/account/security')).status, 200)
})

test('what the provider says about itself is asked for once', async (t) => {
  const console = await openSignOn(t)
  const { provider } = console
  await addConnected(console)
  await Promise.all(Array.from({ length: 5 }, () => signOn(console, console.stranger())))
  await signOn(console, console.stranger())
  const asked = () => provider.requests.filter((path) => path.includes('.well-known')).length
  assert.equal(asked(), 1)
})

test('a provider that was down at first works as soon as it is back', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  console.provider.isBroken = true
  await assertDown(console, '/login/oidc')
  console.provider.isBroken = false
  assert.equal((await signOn(console, console.stranger())).status, 303)
})

test('a provider that is slow is given up after five seconds, and passwords do not wait for it', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  console.provider.delayMs = 30_000
  const began = performance.now()
  const [seconds] = await Promise.all([
    assertDown(console, path, visitor).then(() => (performance.now() - began) / 1000),
    assertPasswordWorks(console),
  ])
  assert.ok(seconds > 4.5, `${seconds} s`)
  inTime(seconds < 10, `${seconds} s`)
})

test('a provider that breaks while somebody is there does not count as a wrong answer', async (t) => {
  const console = await openSignOn(t)
  await addConnected(console)
  const visitor = console.stranger()
  const path = await goThere(console, visitor)
  const flow = visitor.cookies.get('footfall-flow') as string
  console.provider.isBroken = true
  for (let index = 0; index < 105; index++) await assertDown(console, path, visitor)
  console.provider.isBroken = false
  visitor.cookies.set('footfall-flow', flow)
  assert.equal((await visitor.get(path)).status, 303)
})
