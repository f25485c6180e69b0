// A page or an action of the console. The table in routes.ts lists them all; gate.ts admits a request before its handler runs.
import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { Directory } from '../accounts/directory.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import type { RequestWindows } from '../accounts/request-windows.ts'
import type { Site } from '../accounts/sites.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { EventStreams } from '../process/event-streams.ts'
import type { Buckets } from '../process/token-buckets.ts'
import type { StatsService } from '../stats/service.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Attempts } from '../users/attempts.ts'
import type { Actor } from '../users/audit-log.ts'
import type { LinkTokens } from '../users/link-tokens.ts'
import type { Membership } from '../users/members.ts'
import type { Passwords } from '../users/passwords.ts'
import type { ResetRequests } from '../users/reset-requests.ts'
import type { Session, Watching } from '../users/sessions.ts'
import type { SharedLink } from '../users/shared-links.ts'
import type { Joining } from '../users/single-sign-on.ts'
import type { Html } from '../web/html.ts'
import type { TargetRules } from '../webhooks/target.ts'
import type { Cookies } from './cookies.ts'
import type { RefusalTraces } from './refusal-traces.ts'
import type { LinkLimits } from './sharing/link-limits.ts'
import type { Provider } from './sign-in/provider.ts'
import type { Uploads } from './uploads/jobs.ts'
import type { Received } from './uploads/receiving.ts'

export interface ConsoleServices {
  postgres: Postgres
  cluster: Cluster
  directory: Directory
  stats: StatsService
  /** The current rate-limit windows of keys. Undefined: only API processes know them. */
  limiter: RequestWindows | undefined
  passwords: Passwords
  attempts: Attempts
  resetRequests: ResetRequests
  linkLimits: LinkLimits
  linkTokens: LinkTokens
  /** Of mails that ask an address to confirm a report, by network. */
  confirmationLimit: Buckets<string>
  refusalTraces: RefusalTraces
  /** Of live pages. */
  streams: EventStreams<Watching>
  uploads: Uploads
  keySecrets: KeySecrets
  /** Undefined: people sign in with passwords only. */
  singleSignOn: SingleSignOn | undefined
  /** The base of every link. */
  publicUrl: string
  /** Undefined: no mail server is configured, and links are copied by hand. */
  outbox: Outbox | undefined
  /** Where webhooks may lead. */
  webhookRules: TargetRules
  /** UTC milliseconds. */
  now(): number
  log: Logger
}

/** Those that a console makes itself (app.ts). */
export type OwnServices =
  | 'attempts'
  | 'resetRequests'
  | 'linkLimits'
  | 'linkTokens'
  | 'confirmationLimit'
  | 'refusalTraces'
  | 'streams'

export interface SingleSignOn {
  provider: Provider
  joining: Joining | undefined
}

export type Theme = 'light' | 'dark'

/** A request that the gate has admitted. */
export interface Visit {
  services: ConsoleServices
  cookies: Cookies
  /** The named parts of the path. */
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** Path and query as they were sent. */
  url: string
  /** The fields of a POST; empty for a GET, and for a form with files. */
  form: URLSearchParams
  /** Of a route that takes files: the form, once all of it has come. Throws `Refusal`. */
  receive(): Promise<Received>
  path: string
  /** For `tokenField` of every form on the page. */
  formToken: string
  /** Undefined: the theme of the system. */
  theme: Theme | undefined
  /** Truncated: the last byte of an IPv4 address and all but the first 48 bits of an IPv6 address are 0. */
  address: string
  /** The whole address, for limits only. It is never stored. */
  clientAddress: string
  browser: string
  session: Session | undefined
  /** The value of the session cookie. */
  cookie: string | undefined
  /** The cookie of a browser in which somebody has signed in before. */
  browserCookie: string | undefined
  /** The note that the password was right (users/right-password.ts). */
  codeCookie: string | undefined
  /** The signed cookie of a single sign-on in progress (sign-in/sign-on-flow.ts). */
  flowCookie: string | undefined
}

export interface UserVisit extends Visit {
  session: Session
  cookie: string
  /** The user, as entries of the audit log name them. */
  actor: Actor
  /** The accounts of the user. */
  memberships: readonly Membership[]
}

export interface AccountVisit extends UserVisit {
  /** The account that the request is about, as the user sees it. */
  account: Membership
}

export interface SiteVisit extends AccountVisit {
  site: Site
}

/** A request with a shared link. It ignores a session of the same browser. */
export interface LinkVisit
  extends Pick<Visit, 'services' | 'cookies' | 'params' | 'url' | 'form' | 'formToken' | 'theme' | 'clientAddress'> {
  link: SharedLink
  site: Site
  /** The address of the link. */
  path: string
  /** An address below `path`, with the theme of the current address. */
  addressOf(rest: string): string
  isUnlocked: boolean
}

/** A request with the link of a mail. It reads no cookie. */
export type MailedVisit = Pick<Visit, 'services' | 'params' | 'form' | 'theme'>

/** The answer of a handler: a page, a file, JSON or a redirect. */
export interface Reply {
  status: number
  body?: Html
  /** A page that is sent piece by piece. The signal aborts when the browser goes away. */
  pieces?(signal: AbortSignal): AsyncIterable<Html>
  /** Server-sent events. */
  events?: Readable
  /** A file to save. */
  file?: { name: string; type: string; text: string }
  /** For programs. */
  json?: unknown
  /** A path of the console, or the address of the provider. */
  location?: string
  cookies?: readonly string[]
  /** They replace the headers of every page. */
  headers?: Readonly<Record<string, string>>
}

export const show = (body: Html, status = 200): Reply => ({ status, body })

export const showPieces = (pieces: (signal: AbortSignal) => AsyncIterable<Html>): Reply => ({ status: 200, pieces })

/** After a POST the browser gets the page with a GET, so that reloading does not send the form again. */
export const goTo = (location: string, cookies: readonly string[] = []): Reply => ({ status: 303, location, cookies })

interface RouteOf<Access extends string, V> {
  method: 'GET' | 'POST'
  /** In Fastify's form: `/sites/:domain/settings`. */
  path: string
  access: Access
  handle(visit: V): Promise<Reply> | Reply
  /** Its form has files, and so may take long. */
  takesFiles?: true
}

/**
 * Who may use a route:
 * - `everyone`: also people who are not signed in
 * - `user`: people who are signed in
 * - `member` and `owner`: of the account that the field or parameter `account` names; the first account of the user if it is missing
 * - `site-member` and `site-owner`: of the account of the site that `:domain` names
 * - `link`: people with the shared link that `:token` names, after they have typed its password if it has one
 * - `locked-link`: people with the link, also without its password
 * - `embeddable-link`: pages of other sites, if the link allows it
 * - `mailed-link`: people and mail programs with the link of a mail. Whoever has the signed `:token` may do what it is for. No
 *   cookie is read, so a form needs no token and no Origin (decision D-222)
 */
export type Route =
  | RouteOf<'everyone', Visit>
  | RouteOf<'user', UserVisit>
  | RouteOf<'member' | 'owner', AccountVisit>
  | RouteOf<'site-member' | 'site-owner', SiteVisit>
  | LinkRoute
  | MailedRoute

/** `cost`: the max number of its queries, for the limits of shared links. */
export type LinkRoute = RouteOf<'link' | 'locked-link' | 'embeddable-link', LinkVisit> & { cost: number }

export type MailedRoute = RouteOf<'mailed-link', MailedVisit>

export const isLinkRoute = (route: Route): route is LinkRoute => 'cost' in route

export const isMailedRoute = (route: Route): route is MailedRoute => route.access === 'mailed-link'
