// The console over HTTP: cookies, the gate, forms, and the headers of every response.

import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { mailedPath } from '../email-reports/links.ts'
import { maxHostname } from '../hostnames.ts'
import type { ClientAddress } from '../process/client-address.ts'
import { compress, encodingOf } from '../process/compression.ts'
import { answerDoctor } from '../process/forwarded-for.ts'
import { createAttempts } from '../users/attempts.ts'
import { ChangeRefused } from '../users/change-refused.ts'
import { openLinkTokens } from '../users/link-tokens.ts'
import { PasswordsBusy } from '../users/password-queue.ts'
import { createConfirmationLimit } from '../users/report-changes.ts'
import { createResetRequests } from '../users/reset-requests.ts'
import { findSession } from '../users/sessions.ts'
import { sharedLinkPath } from '../users/shared-links.ts'
import { truncatedAddress } from './addresses.ts'
import { createCookies } from './cookies.ts'
import { formTokenOf, isFromOurPage, isOurToken } from './forms/forms.ts'
import { admit } from './gate.ts'
import { inTime } from './in-time.ts'
import { serveAssets } from './layout/asset-routes.ts'
import { contentPolicy } from './layout/content-policy.ts'
import { createLiveStreams } from './live-streams.ts'
import { refusalPage } from './pages/refusal.ts'
import { traceRefusals } from './refusal-traces.ts'
import { Refusal, refusals } from './refusals.ts'
import {
  type ConsoleServices,
  goTo,
  isLinkRoute,
  isMailedRoute,
  type LinkRoute,
  type MailedRoute,
  type OwnServices,
  type Route,
  type Theme,
  type Visit,
} from './route.ts'
import { routes } from './routes.ts'
import { send } from './sending.ts'
import { admitLink } from './sharing/link-gate.ts'
import { createLinkLimits } from './sharing/link-limits.ts'
import { browserName } from './sign-in/browser-name.ts'
import { refuseUnreadable } from './unreadable-requests.ts'
import { maxUploadMs, type Received } from './uploads/receiving.ts'

const maxFormBytes = 64 * 1024
/** A full queue of passwords is worked off in four seconds. */
const busySeconds = 5

const headersOfAll = {
  'Content-Security-Policy': contentPolicy("'none'"),
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const

/** The address of a shared link or of a mail is a secret, and no search engine may list it. */
const headersOfLinks = { ...headersOfAll, 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' } as const

/** Compares the route, because an address can be written in several ways; without a route, the address. */
const isBelow = ({ routeOptions, url }: FastifyRequest, path: string): boolean =>
  (routeOptions?.url ?? url).startsWith(path)

const isOfMail = (request: FastifyRequest): boolean => isBelow(request, mailedPath)

const isOfLink = (request: FastifyRequest): boolean => isBelow(request, sharedLinkPath('')) || isOfMail(request)

const headersOf = (request: FastifyRequest): Record<string, string> =>
  isOfLink(request) ? headersOfLinks : headersOfAll

export interface ConsoleOptions extends Omit<ConsoleServices, OwnServices> {
  registry: Registry
  clientAddress: ClientAddress
  isEnding(): boolean
}

export function buildConsole({ clientAddress, isEnding, registry, ...options }: ConsoleOptions): FastifyInstance {
  const services: ConsoleServices = {
    ...options,
    attempts: createAttempts(options.keySecrets),
    resetRequests: createResetRequests(options.postgres, options.outbox, options.log),
    linkLimits: createLinkLimits(),
    linkTokens: openLinkTokens(options.postgres, options.keySecrets),
    confirmationLimit: createConfirmationLimit(),
    refusalTraces: traceRefusals(registry, options.log),
    streams: createLiveStreams(options.postgres, isEnding),
  }
  const { log } = services
  const cookies = createCookies(services.publicUrl)
  // Without subdomains and preloading: other hosts may need http, and leaving the preload lists of browsers takes months.
  const overHttps = services.publicUrl.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}
  const app = Fastify({
    logger: false,
    bodyLimit: maxFormBytes,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: maxHostname },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: 10_000,
    http: { maxHeaderSize: 8_192, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    clientErrorHandler: refuseUnreadable,
    // A path that cannot be decoded names nothing.
    frameworkErrors: (_error, _request, reply) => void refuse(reply, new Refusal('not_found')),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(body as string)),
  )

  app.addHook('onRequest', async (request, reply) => {
    const toDoctor = answerDoctor(services.keySecrets, request.headers, services.now())
    reply.headers({ ...headersOf(request), ...overHttps, ...toDoctor })
    if (isEnding()) reply.header('Connection', 'close')
  })
  app.addHook('preHandler', async (request) => {
    if (!hasZeroByte(request)) return
    throw new Refusal(isOfMail(request) ? 'closed_mail_link' : isOfLink(request) ? 'closed_link' : 'not_found')
  })
  app.addHook('onSend', async (request, reply, body) => {
    if (typeof body !== 'string') return body
    const encoding = encodingOf(request.headers['accept-encoding'], body)
    if (!encoding) return body
    reply.header('Content-Encoding', encoding)
    return compress(body, encoding)
  })
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Refusal) return refuse(reply, error)
    if (error instanceof ChangeRefused) return refuse(reply, new Refusal(error.reason))
    if (error instanceof PasswordsBusy) return refuse(reply, new Refusal('busy', busySeconds))
    const { code, statusCode } = error as { code?: string; statusCode?: number }
    if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refuse(reply, new Refusal('too_large'))
    if (statusCode !== undefined && statusCode < 500) return refuse(reply, new Refusal('foreign_form'))
    log.error({ requestId: request.id, route: request.routeOptions.url, err: error }, 'a page of the console failed')
    return refuse(reply, new Refusal('failed'))
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found')
  })

  app.addHook('preClose', async () => services.streams.endAll())
  app.addHook('onClose', () => services.resetRequests.close())
  app.get('/livez', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    if (isEnding()) reply.code(503)
    return { status: isEnding() ? 'ending' : 'ready' }
  })
  serveAssets(app)
  for (const route of routes) {
    if (isMailedRoute(route)) continue
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      isLinkRoute(route) ? answerLink(route, request, reply) : answer(route, request, reply)
    if (!route.takesFiles) app.route({ method: route.method, url: route.path, handler })
    else
      app.register(async (scope) => {
        // The handler reads it, after the gate.
        scope.addContentTypeParser('multipart/form-data', (_request, _body, done) => done(null, undefined))
        scope.route({ method: route.method, url: route.path, handler })
      })
  }
  app.register(async (scope) => {
    // Mail programs may send a form of another type (RFC 8058), of which nothing is read.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined))
    for (const route of routes.filter(isMailedRoute)) {
      const handler = (request: FastifyRequest, reply: FastifyReply) => answerMailed(route, request, reply)
      scope.route({ method: route.method, url: route.path, handler })
    }
  })
  return app

  async function answer(
    route: Exclude<Route, LinkRoute | MailedRoute>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { visit, newCookies } = await inTime(visitOf(request))
    if (route.method === 'POST') refuseForeign(request, visit)
    if (route.access !== 'everyone' && !visit.session) {
      // After signing in, the browser can repeat a GET, but not a form.
      const next = route.method === 'GET' ? `?next=${encodeURIComponent(request.url)}` : ''
      return send(reply, goTo(`/login${next}`), [])
    }
    return send(reply, await inTime(admit(route, visit), route.takesFiles && maxUploadMs), newCookies)
  }

  async function answerLink(route: LinkRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const linkRequest = {
      services,
      cookies,
      params: request.params as Record<string, string>,
      url: request.url,
      form: formOf(request),
      theme: themeOf(request),
      clientAddress: addressOf(request),
    }
    return send(reply, await inTime(admitLink(route, linkRequest, request.headers)), [])
  }

  async function answerMailed(route: MailedRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const params = request.params as Record<string, string>
    const visit = { services, params, form: formOf(request), theme: themeOf(request) }
    return send(reply, await inTime(Promise.resolve(route.handle(visit))), [])
  }

  /** Pages of links read no cookie: the page that embeds a shared link chooses the theme in the address. */
  function themeOf(request: FastifyRequest): Theme | undefined {
    const theme = isOfLink(request)
      ? new URL(request.url, services.publicUrl).searchParams.get('theme')
      : cookies.read(request.headers, 'theme')
    return theme === 'light' || theme === 'dark' ? theme : undefined
  }

  function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
    services.refusalTraces.note(refusal.refusal, addressOf(reply.request))
    return sendRefusal(reply.headers(overHttps), refusal, themeOf(reply.request))
  }

  function addressOf({ raw, headers }: FastifyRequest): string {
    return clientAddress(raw.socket.remoteAddress ?? '', headers['x-forwarded-for'] as string | undefined)
  }

  async function visitOf(request: FastifyRequest): Promise<{ visit: Visit; newCookies: string[] }> {
    const { headers } = request
    const url = new URL(request.url, services.publicUrl)
    const cookie = cookies.read(headers, 'session')
    const session = cookie ? await findSession(services.postgres, cookie) : undefined
    const form = cookies.read(headers, 'form')
    const secret = (session && cookie) ?? form ?? randomBytes(32).toString('base64url')
    const address = addressOf(request)
    const visit: Visit = {
      services,
      cookies,
      params: request.params as Record<string, string>,
      query: url.searchParams,
      form: formOf(request),
      receive: () => receive(request, visit),
      url: request.url,
      path: url.pathname,
      formToken: formTokenOf(secret),
      theme: themeOf(request),
      address: truncatedAddress(address),
      clientAddress: address,
      browser: browserName(headers['user-agent'] ?? ''),
      session,
      cookie: session && cookie,
      browserCookie: cookies.read(headers, 'browser'),
      codeCookie: cookies.read(headers, 'code'),
      flowCookie: cookies.read(headers, 'flow'),
    }
    return { visit, newCookies: session || form ? [] : [cookies.set('form', secret)] }
  }

  function refuseForeign(request: FastifyRequest, visit: Visit): void {
    const expected = expectedToken(request, visit)
    // The token of a form with files comes with them.
    const isOurs = hasFiles(request) ? expected !== undefined : isOurToken(visit.form.get('token'), expected)
    if (!isFromOurPage(request.headers, services.publicUrl) || !isOurs) throw new Refusal('foreign_form')
  }

  /** Without a session, the browser must send the form cookie that came with the page of the form. */
  function expectedToken({ headers }: FastifyRequest, { formToken, session }: Visit): string | undefined {
    return session || cookies.read(headers, 'form') !== undefined ? formToken : undefined
  }

  async function receive(request: FastifyRequest, visit: Visit): Promise<Received> {
    if (!hasFiles(request)) return { fields: visit.form, files: [] }
    const expected = expectedToken(request, visit)
    return services.uploads.receive(request.raw, (token) => isOurToken(token, expected))
  }
}

/** Only routes that take files let such a body in. */
const hasFiles = ({ headers, body }: FastifyRequest): boolean =>
  body === undefined && /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')

const formOf = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()

/** PostgreSQL refuses a text with a zero byte. No page of ours sends one, so the request gets the answer for unknown things. */
const hasZeroByte = (request: FastifyRequest): boolean =>
  request.url.includes('%00') || formOf(request).toString().includes('%00')

/** Sends the same bytes to everyone: a refusal must not tell what exists. */
function sendRefusal(
  reply: FastifyReply,
  { refusal, retryAfterSeconds }: Refusal,
  theme: Theme | undefined,
): FastifyReply {
  reply.headers({ ...headersOf(reply.request), 'Cache-Control': 'no-store' })
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', retryAfterSeconds)
  return reply.code(refusals[refusal].status).type('text/html; charset=utf-8').send(refusalPage(refusal, theme).text)
}
