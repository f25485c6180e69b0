// Every route of the console: not signed in, as a viewer, with ids of another account, and with forms that no page of ours sent.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formTokenOf } from '../../src/console/forms/forms.ts'
import { isLinkRoute, isMailedRoute, type Route } from '../../src/console/route.ts'
import { routes } from '../../src/console/routes.ts'
import { addMember } from '../../src/users/members.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { eventually } from '../support/eventually.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { startProvider } from '../support/provider.ts'
import { cheapPasswords, openConsole, password } from './console.ts'
import { addressOf, exampleOf, examples, nameOf } from './route-examples.ts'
import { type Answer, exchange, type Sent, sendExample } from './route-requests.ts'
import { dumpTables } from './table-dump.ts'
import { makeThings, type OwnThings, type Things, unknownThings } from './things.ts'

test('every example belongs to a route', () => {
  assert.deepEqual(Object.keys(examples).sort(), routes.map(nameOf).sort())
})

test('every route', { timeout: 600_000 }, async (t) => {
  const gate = await openGate(t)
  const unchanged = await gate.makeThings()
  for (const route of routes) {
    await t.test(nameOf(route), async (t) => {
      const { changesNothing, needsNoOwner } = exampleOf(route)
      const isChanging = route.method !== 'GET' && !changesNothing && !needsNoOwner
      const things = isChanging ? await gate.makeThings() : unchanged
      if (!isForEveryone(route)) {
        await t.test('leads to the sign-in page without a session', () => gate.needsSession(route, things))
        await t.test('refuses the ids of other accounts like unknown ones', () => gate.refusesForeign(route, things))
      }
      // The link of a mail is all that its forms need (decision D-222).
      if (route.method === 'POST' && !isMailedRoute(route))
        await t.test('refuses forms that no page of ours sent', () => gate.refusesForms(route, things))
      await t.test('refuses viewers what only owners may do', () => gate.refusesViewers(route, things))
      await t.test('knows nothing with a zero byte', () => gate.refusesZeroBytes(route, things))
      if (isChanging) {
        await t.test('changes something as the example says', () => gate.changes(route, things))
        // Every comparison reads all tables, so they must not grow with the number of routes.
        await gate.remove(things)
      } else if (needsNoOwner) await t.test('is refused, because there are owners', () => gate.isRefused(route, things))
      else await t.test('changes nothing', () => gate.changesNothing(route, things))
    })
  }
})

const isForEveryone = (route: Route): boolean =>
  route.access === 'everyone' || isLinkRoute(route) || isMailedRoute(route)

async function openGate(t: TestContext) {
  const stores = await freshStores((end) => t.after(end))
  const provider = await startProvider()
  t.after(provider.stop)
  const { url } = await openConsole(t, { stores, provider, sendsMail: true })
  const passwordHash = await createPasswords(cheapPasswords).hash(password)
  const [foreign, viewed, owned] = [await make(), await make(), await make()]

  /** The owner may look at another account, and the viewer owns another: neither may count here. */
  async function makeMembers(): Promise<OwnThings> {
    const things = await make()
    await addMember(stores.postgres, viewed.accountId, things.owner.userId, 'viewer')
    await addMember(stores.postgres, owned.accountId, things.viewer.userId, 'owner')
    return things
  }

  function make(): Promise<OwnThings> {
    return makeThings(stores, passwordHash)
  }

  const send = (route: Route, things: OwnThings, sent: Sent = {}): Promise<Answer> =>
    sendExample(url, route, things, sent)

  async function nothingChanges(work: () => Promise<void>): Promise<void> {
    const before = await dumpTables(stores.postgres)
    await work()
    assert.deepEqual(await dumpTables(stores.postgres), before)
  }

  /** Somebody who may do everything in the account. */
  const allowed = (route: Route, { owner }: OwnThings): Sent => (isForEveryone(route) ? {} : { person: owner })

  return {
    makeThings: makeMembers,

    async remove({ accountId, owner, viewer, memberId }: OwnThings) {
      await stores.postgres`DELETE FROM accounts WHERE id = ${accountId}`
      await stores.postgres`DELETE FROM users WHERE id = ANY(${[owner.userId, viewer.userId, memberId]})`
    },

    needsSession: (route: Route, things: OwnThings) =>
      nothingChanges(async () => {
        const next = `?next=${encodeURIComponent(addressOf(route, things))}`
        const expected = route.method === 'GET' ? `/login${next}` : '/login'
        assert.deepEqual(await send(route, things), { status: 303, location: expected, text: '' })
        const ended = { ...things.owner, cookie: 'x'.repeat(43) }
        const answer = await send(route, things, { person: ended })
        assert.equal(answer.location ?? answer.status, route.method === 'GET' ? expected : 403)
      }),

    refusesForms: (route: Route, things: OwnThings) =>
      nothingChanges(async () => {
        const own = allowed(route, things)
        const faults: Record<string, Sent> = {
          'no Origin': { headers: { Origin: undefined } },
          'another Origin': { headers: { Origin: 'https://attacker.example' } },
          'the Origin of another port': { headers: { Origin: `${url}0` } },
          'the Origin null': { headers: { Origin: 'null' } },
          'another site': { headers: { 'Sec-Fetch-Site': 'cross-site' } },
          'another host of the same site': { headers: { 'Sec-Fetch-Site': 'same-site' } },
          'no token': { token: '' },
          'the token of another session': { token: formTokenOf(things.viewer.cookie) },
          'JSON instead of a form': { headers: { 'Content-Type': 'application/json' } },
          'a form without a type': { headers: { 'Content-Type': undefined } },
        }
        for (const [name, fault] of Object.entries(faults)) {
          const { status, text } = await send(route, things, { ...own, ...fault })
          assert.deepEqual([name, status], [name, 403])
          assert.match(text, /This form is no longer valid/)
        }
        const { status } = await exchange(url + addressOf(route, things), {
          method: 'POST',
          headers: { Origin: url, 'Content-Type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ token: formTokenOf('') }).toString(),
        })
        assert.equal(status, 403, 'without any cookie')
      }),

    async refusesViewers(route: Route, things: OwnThings) {
      if (route.access !== 'owner' && route.access !== 'site-owner') {
        const isHarmless = route.method === 'GET' || isForEveryone(route) || exampleOf(route).viewersMay
        assert.ok(isHarmless, 'a viewer may send this form; if it concerns only themselves, say so in the example')
        return
      }
      await nothingChanges(async () => {
        const { status, text } = await send(route, things, { person: things.viewer })
        assert.equal(status, 403)
        assert.match(text, /Only owners may do that/)
      })
    },

    /** Replaces one thing at a time, wherever the example uses it. */
    refusesForeign: (route: Route, things: OwnThings) =>
      nothingChanges(async () => {
        const { owner } = things
        const unknown = unknownThings()
        for (const kind of Object.keys(unknown) as (keyof Things)[]) {
          const without = { ...things, [kind]: unknown[kind] }
          if (!uses(route, things, without)) continue
          const expected = await send(route, without, { person: owner })
          assert.ok(expected.status >= 400, `an unknown ${kind} gets ${expected.status} ${expected.location}`)
          const found = await send(route, { ...things, [kind]: foreign[kind] }, { person: owner })
          const same = { ...found, text: withoutNonces(found.text.replaceAll(foreign[kind], unknown[kind])) }
          assert.deepEqual([kind, same], [kind, { ...expected, text: withoutNonces(expected.text) }])
          // A viewer of an account may know its ids, but may not use them in the name of another.
          const seen = { ...things, [kind]: viewed[kind] }
          if (route.method === 'POST') assert.ok((await send(route, seen, { person: owner })).status >= 400, kind)
        }
      }),

    /** PostgreSQL refuses a text with a zero byte, so an id with one must not reach it. One place at a time. */
    refusesZeroBytes: (route: Route, things: OwnThings) =>
      nothingChanges(async () => {
        const own = allowed(route, things)
        const faults = [
          ...addressesWithZeroBytes(route, addressOf(route, things)).map((address) => ({ address })),
          ...(route.method === 'POST' ? fieldsWithZeroBytes(exampleOf(route).fields?.(things) ?? {}) : []),
        ]
        const found: unknown[] = []
        for (const fault of faults) {
          const { status } = await send(route, things, { ...own, ...fault })
          if (status !== 404) found.push({ ...fault, status })
        }
        assert.deepEqual(found, [])
      }),

    changesNothing: (route: Route, things: OwnThings) =>
      nothingChanges(async () => {
        const { status } = await send(route, things, allowed(route, things))
        const { status: expected = 200 } = exampleOf(route)
        // The theme is a cookie.
        assert.ok(status === expected || (route.method === 'POST' && status === 303), `${status}`)
      }),

    isRefused: (route: Route, things: OwnThings) =>
      nothingChanges(async () => {
        const { status, text } = await send(route, things, allowed(route, things))
        assert.equal(status, 404)
        assert.match(text, /This link no longer works/)
      }),

    async changes(route: Route, things: OwnThings) {
      const before = await dumpTables(stores.postgres)
      const { status, text } = await send(route, things, allowed(route, things))
      assert.ok([200, 303].includes(status), `${status} ${text}`)
      // A request for a new password is answered before anything is done.
      await eventually(async () => assert.notDeepEqual(await dumpTables(stores.postgres), before))
      // Files are read in the background.
      await eventually(async () => {
        const reading = await stores.postgres`
          SELECT FROM uploads WHERE state = 'checking' AND seen_at > now() - interval '20 seconds'`
        assert.equal(reading.length, 0)
      })
    },
  }

  function uses(route: Route, one: OwnThings, other: OwnThings): boolean {
    const { fields } = exampleOf(route)
    const all = (things: OwnThings) => JSON.stringify([addressOf(route, things), fields?.(things)])
    return all(one) !== all(other)
  }
}

/** In each named part of the path, alone and after an id that exists, and in the only parameter that is an id. */
function addressesWithZeroBytes(route: Route, address: string): string[] {
  const [path = ''] = address.split('?')
  const parts = path.split('/')
  const inPath = route.path
    .split('/')
    .flatMap((name, at) =>
      name.startsWith(':') ? ['%00', `${parts[at]}%00`].map((part) => parts.with(at, part).join('/')) : [],
    )
  return [...inPath, `${path}?account=%00`]
}

const fieldsWithZeroBytes = (fields: Record<string, string>): { fields: Record<string, string> }[] =>
  Object.entries(fields).map(([name, value]) => ({ fields: { ...fields, [name]: `${value}\0` } }))

/** Every form of every page has a number of its own. */
const withoutNonces = (text: string): string => text.replaceAll(/(?<=name="nonce" value=")[^"]*/g, '')
