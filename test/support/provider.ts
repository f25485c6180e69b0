// A real provider of OpenID Connect on a port of its own. It signs in whoever the test chooses, without asking, and can be slow, down, or
// a liar: then it changes the claims of its tokens, or signs them with another key.
import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type OidcProvider from 'oidc-provider'

export interface Account {
  subject: string
  email?: string
  verified?: boolean
}

type Claims = Record<string, unknown>

export interface TestProvider {
  settings: { issuer: string; clientId: string; clientSecret: string }
  /** Who signs in next. */
  account: Account
  /** Of every answer. */
  delayMs: number
  /** Every answer is an error of the server. */
  isBroken: boolean
  /** Whether the email is in the token, and not only for those who ask for it. */
  emailInToken: boolean
  /** Changes the claims of the next tokens. */
  lie: ((claims: Claims) => Claims) | undefined
  /** Signs the next tokens with a key that nobody has published. */
  signsWithForeignKey: boolean
  /** Paths that were asked for, the oldest first. */
  requests: string[]
  /** What was handed out: codes, tokens. */
  secrets: string[]
  /** The address that people may be sent back to. */
  admit(redirectUri: string): void
  /** What a browser does at the provider: follows redirects until one leaves. Returns the path and query of that address. */
  walk(address: string): Promise<string>
  stop(): Promise<void>
}

const keyOf = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })

/** For all providers of a test file, because making a key takes 0.1 s. */
const [own, foreign] = [keyOf(), keyOf()]

export async function startProvider(): Promise<TestProvider> {
  const { default: Provider } = await import('oidc-provider') // takes half a second, which --help of a check must not
  let oidc: OidcProvider | undefined
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    provider.requests.push(pathname)
    await sleep(provider.delayMs, undefined, { ref: false })
    if (!oidc || provider.isBroken) return void response.writeHead(500).end()
    if (pathname === '/token') changeTokens(response)
    if (!pathname.startsWith('/interaction/')) return oidc.callback()(request, response)
    const { client_id: clientId } = (await oidc.interactionDetails(request, response)).params
    const grant = new oidc.Grant({ accountId: provider.account.subject, clientId })
    grant.addOIDCScope('openid email')
    const result = { login: { accountId: provider.account.subject }, consent: { grantId: await grant.save() } }
    await oidc.interactionFinished(request, response, result)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`

  /** The provider writes its answer in one piece. */
  function changeTokens(response: ServerResponse): void {
    const end = response.end.bind(response) as (text: string) => ServerResponse
    response.end = ((text: string | Buffer) => {
      const answer = JSON.parse(String(text)) as { id_token?: string; access_token?: string }
      if (answer.id_token) answer.id_token = changed(answer.id_token)
      provider.secrets.push(...[answer.id_token, answer.access_token].filter((token) => token !== undefined))
      const body = JSON.stringify(answer)
      response.setHeader('Content-Length', Buffer.byteLength(body))
      return end(body)
    }) as ServerResponse['end']
  }

  function changed(token: string): string {
    if (!provider.lie && !provider.signsWithForeignKey) return token
    const [header = '', payload = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims
    const told = Buffer.from(JSON.stringify(provider.lie?.(claims) ?? claims)).toString('base64url')
    const key = createPrivateKey({ format: 'jwk', key: provider.signsWithForeignKey ? foreign : own })
    const text = `${header}.${told}`
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }

  const provider: TestProvider = {
    settings: { issuer, clientId: 'footfall', clientSecret: `secret-${randomUUID()}` },
    account: { subject: randomUUID() },
    delayMs: 0,
    isBroken: false,
    emailInToken: false,
    lie: undefined,
    signsWithForeignKey: false,
    requests: [],
    secrets: [],
    admit(redirectUri) {
      const { clientId, clientSecret } = provider.settings
      oidc = new Provider(issuer, {
        clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
        jwks: { keys: [{ ...own, kid: 'own', alg: 'RS256', use: 'sig' }] },
        cookies: { keys: [randomUUID()] },
        claims: { openid: ['sub'], email: ['email', 'email_verified'] },
        conformIdTokenClaims: !provider.emailInToken,
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        findAccount: (_context: unknown, accountId: string) => {
          const { email, verified } = provider.account
          const claims = { sub: accountId, ...(email && { email, email_verified: verified === true }) }
          return { accountId, claims: () => claims }
        },
      })
    },
    async walk(address) {
      const cookies = new Map<string, string>()
      for (let at = new URL(address); ; ) {
        if (at.origin !== issuer) {
          provider.secrets.push(at.searchParams.get('code') ?? 'no code')
          return at.pathname + at.search
        }
        const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(at, { redirect: 'manual', headers: { Cookie: cookie } })
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          cookies.set(name, value)
        }
        const location = response.headers.get('location')
        if (!location) throw new Error(`The provider answers ${response.status}: ${await response.text()}`)
        at = new URL(location, at)
      }
    },
    async stop() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
  return provider
}
