// The secrets of people who use the console: passwords, sessions, one-time links, second factors, and what single sign-on
// exchanges. The setup link is the one secret that belongs in the log (decision D-178); it is not used here.
import { randomBytes } from 'node:crypto'
import { freePort } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { addMember } from '../../../src/users/members.ts'
import { createPasswords } from '../../../src/users/passwords.ts'
import { codeAt, stepAt } from '../../../src/users/totp.ts'
import { createUser } from '../../../src/users/users.ts'
import { launchProcess } from '../../support/process.ts'
import { startProvider } from '../../support/provider.ts'
import type { Stores } from '../../support/stores.ts'
import type { Check } from '../runner.ts'
import type { Secret } from './secrets.ts'

export interface PeopleRun {
  secrets: Secret[]
  /** Bodies of pages; a page that is meant to show a secret is left out. */
  responses: string[]
  log: string
  failures: number
}

interface Sent {
  cookies: Map<string, string>
  /** The page is meant to show a secret to this person. */
  isSecret?: boolean
  form?: Record<string, string>
  maxMs?: number
}

/** `fail` breaks the connection to PostgreSQL and mends it again. */
export async function runPeople(
  check: Check,
  stores: Stores,
  environment: Record<string, string>,
  fail: (isBroken: boolean) => void,
): Promise<PeopleRun> {
  const port = await freePort()
  const provider = await startProvider()
  check.onEnd(provider.stop)
  const { issuer, clientId, clientSecret } = provider.settings
  const console = launchProcess({
    name: 'console',
    command: [process.execPath, new URL('../../../src/console/main.ts', import.meta.url).pathname],
    environment: {
      ...environment,
      CONSOLE_PORT: `${port}`,
      CONSOLE_METRICS_PORT: `${await freePort()}`,
      LOG_LEVEL: 'trace',
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
    },
    port,
    maxStopMs: 20_000,
  })
  check.onEnd(console.stop)
  await console.untilReady()
  const origin = `http://localhost:${port}`
  provider.admit(`${origin}/login/oidc/callback`)
  const responses: string[] = []
  let failures = 0
  let token = ''

  async function send(
    path: string,
    { cookies, isSecret, form, maxMs = 60_000 }: Sent,
  ): Promise<{ text: string; location: string }> {
    const response = await fetch(console.url + path, {
      redirect: 'manual',
      signal: AbortSignal.timeout(maxMs),
      headers: {
        Cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { Origin: origin, 'Content-Type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { method: 'POST', body: new URLSearchParams({ token, ...form }).toString() }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value) cookies.set(name, value)
      else cookies.delete(name)
    }
    const text = await response.text()
    token = /name="token" value="([^"]*)"/.exec(text)?.[1] ?? token
    const location = response.headers.get('location') ?? ''
    if (!isSecret) responses.push(`${response.status} ${location}\n${text}`)
    if (response.status >= 500) failures++
    return { text, location }
  }

  const canary = (name: string): Secret => ({ name, text: `canary${randomBytes(18).toString('hex')}` })
  const [password, wrong, invited, replaced] = [
    'password',
    'wrong password',
    'password of the invited',
    'new password',
  ].map(canary) as [Secret, Secret, Secret, Secret]
  const secrets = [password, wrong, invited, replaced]
  const keep = (name: string, text: string | undefined) => {
    if (!text) check.fault('a secret is missing', name)
    else secrets.push({ name, text })
    return text ?? ''
  }
  const accountId = await createAccount(stores.postgres, { name: 'People', plan: 'Agency' })
  const email = 'owner@people.example'
  const userId = await createUser(stores.postgres, email, await createPasswords().hash(password.text))
  await addMember(stores.postgres, accountId, userId, 'owner')

  // A wrong and a right password, the session in places where it does not belong, an invitation that is accepted.
  const owner = new Map<string, string>()
  await send('/login', { cookies: owner })
  await send('/login', { cookies: owner, form: { email, password: wrong.text } })
  await send('/login', { cookies: owner, form: { email, password: password.text } })
  const session = keep('session', owner.get('footfall-session'))
  await send(`/account?session=${session}`, { cookies: owner })
  await send(`/sites/${session}/settings`, { cookies: owner })
  await send(`/invitation/${session}`, { cookies: new Map() })
  await send('/account/members', { cookies: owner })
  const invitation = { email: 'viewer@people.example', role: 'viewer' }
  const made = await send('/account/members/invite', { cookies: owner, isSecret: true, form: invitation })
  const link = keep('invitation', /\/invitation\/([\w-]{43})/.exec(made.text)?.[1])
  const viewer = new Map<string, string>()
  const chosen = (text: string) => ({ 'new-password': text, 'repeated-password': text })
  await send(`/invitation/${link}`, { cookies: viewer })
  await send(`/invitation/${link}`, { cookies: viewer, form: { ...chosen(invited.text), 'repeated-password': 'x' } })
  await send(`/invitation/${link}`, { cookies: viewer, form: chosen(invited.text) })
  await send(`/invitation/${link}`, { cookies: viewer })
  keep('session of the invited', viewer.get('footfall-session'))

  // The second factor, then a new password. Later everything once more without a database.
  const page = await send('/account/second-factor', { cookies: owner, isSecret: true })
  const secret = keep('secret of the second factor', /name="secret" value="(\w+)"/.exec(page.text)?.[1])
  const on = { to: 'on', secret, password: password.text, code: codeAt(secret, stepAt(Date.now())) }
  const shown = await send('/account/second-factor', { cookies: owner, isSecret: true, form: on })
  const recovery = keep('recovery code', shown.text.match(/[a-z2-7]{4}(-[a-z2-7]{4}){3}/)?.[0])
  const phone = new Map<string, string>()
  await send('/login', { cookies: phone })
  await send('/login', { cookies: phone, form: { email, password: password.text } })
  keep('signature after the password', phone.get('footfall-code')?.split('.').at(-1))
  await send('/login', { cookies: phone, form: { code: recovery } })
  await send('/account/security', { cookies: phone })
  await send('/account/password', { cookies: phone, form: { password: password.text, ...chosen(replaced.text) } })

  // Single sign-on of somebody unknown, with a code that is used twice, and with a token that is wrong.
  keep('client secret', clientSecret)
  for (const signsWithForeignKey of [false, true]) {
    provider.signsWithForeignKey = signsWithForeignKey
    const browser = new Map<string, string>()
    const { location } = await send('/login/oidc', { cookies: browser, isSecret: true })
    keep('state', new URL(location).searchParams.get('state') ?? undefined)
    keep('signature of the flow', browser.get('footfall-flow')?.split('.').at(-1))
    const path = await provider.walk(location)
    await send(path, { cookies: browser })
    await send(path, { cookies: browser })
  }
  for (const text of provider.secrets) keep('code or token', text)
  if (provider.secrets.length < 6) check.fault('coverage', 'single sign-on exchanged no tokens')

  fail(true)
  // The console waits for PostgreSQL, so nobody gets an answer soon.
  const waiting = [
    ['/account', undefined],
    [`/invitation/${link}`, undefined],
    ['/login', { email, password: replaced.text }],
    ['/account/password', { password: replaced.text, ...chosen(wrong.text) }],
  ] as const
  await Promise.all(
    waiting.map(([path, form]) =>
      send(path, { cookies: phone, maxMs: 4_000, ...(form && { form }) }).catch(() => {
        failures++
      }),
    ),
  )
  fail(false)
  await send('/logout', { cookies: phone, form: {} })
  if (!responses.some((text) => text.startsWith('401')) || !responses.some((text) => text.startsWith('404')))
    check.fault('coverage', 'no wrong password or spent link among the responses of the console')
  if (failures === 0) check.fault('nothing failed', 'the console without PostgreSQL')
  await console.stop()
  return { secrets, responses, log: console.log(), failures }
}
