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
/** Cached this long: addresses and features of a provider rarely change. Its keys are fetched again when an unknown key signs. */
const discoveredMs = hourMs

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
}

/** Ties the answer of the provider to the browser that began the sign-on: each is random and used once. */
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
  /** The person who came back with this query, or undefined if the answer is invalid. */
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

  /** All waiting people share one discovery. A failure is not cached. */
  function discover(): Promise<Configuration> {
    if (discovered && Date.now() < discovered.at + discoveredMs) return discovered.configuration
    const pending = discovery(server, clientId, undefined, authenticationWith(clientSecret), {
      timeout: deadlineSeconds,
      // Without the first, the signature of a token would not be checked, because it came over https.
      execute: [enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [allowInsecureRequests] : [])],
    })
    discovered = { configuration: pending, at: Date.now() }
    pending.catch(() => {
      discovered = undefined
    })
    return pending
  }

  /** Returns undefined for an invalid answer of the provider. The answer is not logged: it may hold codes and tokens. */
  async function ask<Answer>(question: (config: Configuration) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await question(await discover())
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
      const address = await ask(async (config) =>
        buildAuthorizationUrl(config, {
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
      ask(async (config) => {
        const tokens = await authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
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
              claims.email === undefined && config.serverMetadata().userinfo_endpoint
                ? ((await ask(() => fetchUserInfo(config, tokens.access_token, claims.sub))) ?? claims)
                : claims
            const address = emailOf(typeof email === 'string' ? email : '')
            return email_verified === true && isEmail(address) ? address : undefined
          },
        }
      }),
  }
}

/** Uses client_secret_basic, the default of providers, unless the provider supports only client_secret_post. */
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
  /** The error code of the provider, such as `invalid_client`. */
  error?: string
  status?: number
}

/** Whether the provider is down or broken, so that the person did nothing wrong. */
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
