// What tests of single sign-on share: a console with a real provider, and a browser that goes there and comes back.
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { addIdentity } from '../../src/users/identities.ts'
import { type Account, startProvider, type TestProvider } from '../support/provider.ts'
import { type ConsoleOptions, openConsole, type Page, type TestConsole, type Visitor } from './console.ts'

export interface SignOnConsole extends TestConsole {
  provider: TestProvider
}

export async function openSignOn(
  t: TestContext,
  options: ConsoleOptions = {},
  prepare: (provider: TestProvider) => void = () => {},
): Promise<SignOnConsole> {
  const provider = await startProvider()
  t.after(provider.stop)
  prepare(provider)
  return { ...(await openConsole(t, { ...options, provider })), provider }
}

/** The issuer as it is stored. */
export const issuerOf = ({ provider }: SignOnConsole): string => new URL(provider.settings.issuer).href

/** A user who is connected with an account of the provider, which signs in next. */
export async function addConnected(console: SignOnConsole, role: 'owner' | 'viewer' = 'viewer') {
  const user = await console.addUser(role)
  const subject = randomUUID()
  await addIdentity(console.stores.postgres, user.id, { issuer: issuerOf(console), subject }, user.email)
  console.provider.account = { subject, email: user.email, verified: true }
  return { ...user, subject }
}

export const somebody = (email = `${randomUUID()}@example.com`): Account & { email: string } => ({
  subject: randomUUID(),
  email,
  verified: true,
})

/** From the link to the address that the provider sends the browser back to. */
export async function goThere(
  { provider }: SignOnConsole,
  visitor: Visitor,
  start = '/login/oidc',
  change: (address: URL) => void = () => {},
): Promise<string> {
  const { status, headers, text } = await visitor.get(start)
  const address = URL.parse(headers.get('location') ?? '')
  if (!address) throw new Error(`${start} answers ${status}: ${text}`)
  change(address)
  return provider.walk(address.href)
}

/** There and back. */
export const signOn = async (console: SignOnConsole, visitor: Visitor, start?: string): Promise<Page> =>
  visitor.get(await goThere(console, visitor, start))

/** Who is signed in, by the page of the account. */
export async function emailOf(visitor: Visitor): Promise<string | undefined> {
  const { text } = await visitor.get('/account/security')
  return /class="avatar"[^>]*title="([^"]*)"/.exec(text)?.[1]
}

export const usersWith = async ({ stores }: TestConsole, email: string) => [
  ...(await stores.postgres<{ role: string; account: string; hasPassword: boolean }[]>`
    SELECT role, account_id AS account, password_hash IS NOT NULL AS "hasPassword"
    FROM users LEFT JOIN members ON user_id = users.id WHERE email = ${email}`),
]
