// Every route of the console, sent by everybody: what they get is what its access promises, and what docs/routes.md says.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Route } from '../../src/console/route.ts'
import { routes } from '../../src/console/routes.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { sessionsOf } from '../../src/users/sessions.ts'
import { code, tableRows } from '../house/documents.ts'
import { read } from '../house/tree.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { startProvider } from '../support/provider.ts'
import { cheapPasswords, openConsole, password } from './console.ts'
import { addressOf, exampleOf, nameOf } from './route-examples.ts'
import { type Answer, sendExample } from './route-requests.ts'
import { makeThings, type OwnThings } from './things.ts'

const roles = ['stranger', 'viewer', 'owner', 'other account'] as const
type Role = (typeof roles)[number]
type Promised = 'works' | 'sign in' | 'owners only' | 'unknown'

const everybody = { stranger: 'works', viewer: 'works', owner: 'works', 'other account': 'works' } as const
const members = { stranger: 'sign in', viewer: 'works', owner: 'works', 'other account': 'unknown' } as const
const owners = { ...members, viewer: 'owners only' } as const

const promises: Readonly<Record<Route['access'], Readonly<Record<Role, Promised>>>> = {
  everyone: everybody,
  user: { ...everybody, stranger: 'sign in' },
  member: members,
  owner: owners,
  'site-member': members,
  'site-owner': owners,
  link: everybody,
  'locked-link': everybody,
  'embeddable-link': everybody,
  'mailed-link': everybody,
}

/** What is open to everybody, but answers somebody who is signed in differently. */
const whenSignedIn: Readonly<Record<string, string>> = {
  // Their sites.
  'GET /login': '303',
  // The invitation is for somebody else.
  'POST /invitation/:token': '422',
}

test('every route answers everybody as its access promises and docs/routes.md says', {
  timeout: 600_000,
}, async (t) => {
  const { outcomeOf, outcomeWithoutLink } = await openMatrix(t)
  const rows: string[][] = []
  for (const route of routes) {
    const cells: string[] = []
    for (const role of roles) cells.push(await outcomeOf(route, role))
    const without = route.path.includes(':token') ? await outcomeWithoutLink(route) : '–'
    assert.ok(without === '–' || without === '404', `${nameOf(route)} without the link: ${without}`)
    rows.push([route.method, code(route.path), ...cells, without])
  }
  const header = ['Method', 'Path', 'Stranger', 'Viewer', 'Owner', 'Other account', 'Without the link']
  assert.deepEqual(tableRows(read('docs/routes.md'), ...header), rows)
})

async function openMatrix(t: TestContext) {
  const stores = await freshStores((end) => t.after(end))
  const provider = await startProvider()
  t.after(provider.stop)
  const { url } = await openConsole(t, { stores, provider, sendsMail: true })
  const passwordHash = await createPasswords(cheapPasswords).hash(password)
  const make = () => makeThings(stores, passwordHash)
  const readOnly = { own: await make(), foreign: await make() }
  const unknownLink = 'x'.repeat(43)

  async function outcomeOf(route: Route, role: Role): Promise<string> {
    const promise = promises[route.access][role]
    // A form may end a session or delete a site, so one that works has an account of its own. One that is refused changes nothing.
    const isChanging = route.method !== 'GET' && promise === 'works'
    const own = isChanging ? await make() : readOnly.own
    const foreign = isChanging && role === 'other account' ? await make() : readOnly.foreign
    const [session] = await sessionsOf(stores.postgres, own.viewer.userId)
    const ofViewer = { sessionId: session?.id as string, reportId: own.viewerReportId }
    const things = role === 'viewer' ? { ...own, ...ofViewer } : own
    const person = { stranger: undefined, viewer: own.viewer, owner: own.owner, 'other account': foreign.owner }[role]
    const answer = await sendExample(url, route, things, { person })
    // What every user may do concerns themselves, unless the request names an account or a session.
    const isNamed = JSON.stringify(requestOf(route, own)) !== JSON.stringify(requestOf(route, foreign))
    const isForeign = role === 'other account' && route.access === 'user' && isNamed
    const promised = isForeign ? 'unknown' : promise
    const expected = cellsOf(route, promised, person !== undefined)
    const cell = cellOf(answer)
    assert.ok(expected.includes(cell), `${nameOf(route)} as ${role}: ${cell} instead of ${expected.join(' or ')}`)
    if (promised === 'owners only') assert.match(answer.text, /Only owners may do that/)
    return cell
  }

  async function outcomeWithoutLink(route: Route): Promise<string> {
    const { own } = readOnly
    const tokens = Object.keys(own).filter((name) => name.endsWith('Token'))
    const without = { ...own, ...Object.fromEntries(tokens.map((name) => [name, unknownLink])) }
    return cellOf(await sendExample(url, route, without))
  }

  return { outcomeOf, outcomeWithoutLink }
}

const requestOf = (route: Route, things: OwnThings) => [addressOf(route, things), exampleOf(route).fields?.(things)]

function cellsOf(route: Route, promised: Promised, isSignedIn: boolean): string[] {
  if (promised !== 'works') return [{ 'sign in': toSignIn, 'owners only': '403', unknown: '404' }[promised]]
  const { status = 200, needsNoOwner } = exampleOf(route)
  const changed = isSignedIn && whenSignedIn[nameOf(route)]
  if (changed) return [changed]
  if (needsNoOwner) return ['404']
  // Signing out leads to the sign-in page, too.
  return route.method === 'GET' ? [String(status)] : ['200', '303', ...(route.path === '/logout' ? [toSignIn] : [])]
}

const toSignIn = '303 → /login'

const cellOf = ({ status, location }: Answer): string =>
  status === 303 && /^\/login(?:\?next=|$)/.test(location ?? '') ? toSignIn : String(status)
