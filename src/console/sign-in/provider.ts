// The provider of single sign-on: OpenID Connect with the authorization code flow, PKCE, state and nonce. It is asked only while somebody
// signs in, so a provider that is down delays neither the start of the process nor a password.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Logger } from 'pino'
import { hourMs } from '../../durations.ts'
import type { Identity } from '../../users/identities.ts'
import { emailOf, isEmail } from '../../users/users.ts'
import { Refusal } from '../refusals.ts'

/** For each request to the provider. */
const deadlineSeconds = 5
/** The addresses and abilities of a provider rarely change; its keys are fetched again when an unknown one signs. */
const discoveredMs = hourMs

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
}

/** Ties the answer of the provider to the browser that asked: each is random and used once. */
export interface Checks {
  state: string
  nonce: string
  verifier: string
}

export interface Provider {
  issuer: string
  /** As people know it: the host of the issuer. */
  name: string
  /** Where a browser goes to sign in. */
  begin(): Promise<{ address: string; checks: Checks }>
  /** Who came back with this query, or undefined if anything about the answer is wrong. */
  finish(query: URLSearchParams, checks: Checks): Promise<Person | undefined>
}

export interface Person extends Identity {
  /** The email if the provider says that it is verified. */
  verifiedEmail(): Promise<string | undefined>
}

export const callbackPath = '/login/oidc/callback'

export function createProvider(
  { issuer, clientId, clientSecret }: ProviderSettings,
  { publicUrl, log }: { publicUrl: string; log: Logger },
): Provider {
  const server = new URL(issuer)
  const redirectUri = publicUrl + callbackPath
  let discovered: { configuration: Promise<Configuration>; at: number } | undefined

  /** One at a time, however many people wait for it. A failure is not kept. */
  function configuration(): Promise<Configuration> {
    if (discovered && Date.now() < discovered.at + discoveredMs) return discovered.configuration
    const asked = discovery(server, clientId, undefined, authenticationWith(clientSecret), {
      timeout: deadlineSeconds,
      // Without the first, the signature of a token would not be checked, because it came over https.
      execute: [enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [allowInsecureRequests] : [])],
    })
    discovered = { configuration: asked, at: Date.now() }
    asked.catch(() => {
      discovered = undefined
    })
    return asked
  }

  /** Undefined if the provider answered, but not as it must. What it sent is not logged: it may hold codes and tokens. */
  async function ask<Answer>(question: (asked: Configuration) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await question(await configuration())
    } catch (error) {
      log.warn({ issuer, reason: reasonOf(error) }, 'single sign-on failed')
      if (isOutage(error)) throw new Refusal('provider_down')
      return undefined
    }
  }

  return {
    issuer: server.href,
    name: server.host,
    async begin() {
      const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
      const address = await ask(async (asked) =>
        buildAuthorizationUrl(asked, {
          redirect_uri: redirectUri,
          scope: 'openid email',
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        }),
      )
      if (!address) throw new Refusal('provider_down')
      return { address: address.href, checks }
    },
    finish: (query, { state, nonce, verifier }) =>
      ask(async (asked) => {
        const tokens = await authorizationCodeGrant(asked, new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        // An issuer with many tenants signs for all of them; only the one that is configured may sign people in here.
        if (!claims || URL.parse(claims.iss)?.href !== server.href) return undefined
        return {
          issuer: server.href,
          subject: claims.sub,
          async verifiedEmail() {
            // Many providers keep the email out of the token.
            const { email, email_verified } =
              claims.email === undefined && asked.serverMetadata().userinfo_endpoint
                ? ((await ask(() => fetchUserInfo(asked, tokens.access_token, claims.sub))) ?? claims)
                : claims
            const address = emailOf(typeof email === 'string' ? email : '')
            return email_verified === true && isEmail(address) ? address : undefined
          },
        }
      }),
  }
}

/** The way that every provider has by default, unless it says that it has only the other one. */
function authenticationWith(secret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers)
  }
}

interface Failure {
  name: string
  code?: string
  /** The word of the provider, such as `invalid_client`. */
  error?: string
  status?: number
}

/** No answer, or one that is not of a provider: what the person did was not wrong. */
function isOutage(failure: unknown): boolean {
  const { name, code = '', status = 0 } = failure as Failure
  return (
    name === 'TypeError' ||
    ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'].includes(code) ||
    status >= 500
  )
}

const reasonOf = (failure: unknown): string => {
  const { name, code, error } = failure as Failure
  return [code ?? name, error].filter(Boolean).join(' ').slice(0, 100)
}
