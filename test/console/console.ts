// A console over real HTTP on the shared stores, with the API and the tracker behind the same address, and people who sign in to it.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { createAccount } from '../../src/accounts/accounts.ts'
import type { Plan } from '../../src/accounts/plans.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { buildConsole } from '../../src/console/app.ts'
import { callbackPath, createProvider } from '../../src/console/sign-in/provider.ts'
import { openUploads } from '../../src/console/uploads/jobs.ts'
import { createClientAddress } from '../../src/process/client-address.ts'
import { networksOf } from '../../src/process/networks.ts'
import { createStatsService, type StatsService } from '../../src/stats/service.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { inviteMember } from '../../src/users/invitations.ts'
import { addMember, type Role } from '../../src/users/members.ts'
import { createPasswords, type Passwords } from '../../src/users/passwords.ts'
import { createSession } from '../../src/users/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import type { TestProvider } from '../support/provider.ts'
import { keySecrets, openStores, type Stores } from '../support/stores.ts'
import { startApi } from '../support/world.ts'

/** Of every user that these tests make. */
export const password = 'correct horse battery staple'
/** Cheap, because these tests sign in many hundred times. */
export const cheapPasswords = { cost: { memoryKib: 8, passes: 1 } }

export interface ConsoleOptions {
  /** Messages go to the outbox; nobody sends them. */
  sendsMail?: boolean
  plan?: Plan
  log?: { write(line: string): void }
  /** ISO 8601, or a clock. */
  now?: string | (() => number)
  /** Undefined: as in a console without Redis, apart from the API. */
  limiter?: undefined
  /** Without it: cheap ones. */
  passwords?: Passwords
  /** Without it: those that all tests share. */
  stores?: Stores
  /** Without it: passwords only. */
  provider?: TestProvider
  /** People with a verified email of this domain may join. */
  joinDomain?: string
  /** Without it: statistics of the stores, without a cache. */
  stats?: StatsService
  /** Without it: 500. */
  uploadMaxMegabytes?: number
  /** Whether the process is shutting down. */
  isEnding?(): boolean
}

/** What a browser without JavaScript does: keeps cookies, does not follow redirects, sends forms with their token. */
export interface Visitor {
  email: string
  cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Page>
  /** Fetches `page`, takes the token of its form, and posts the fields to `action`. */
  post(page: string, action: string, fields?: Fields, headers?: Record<string, string>): Promise<Page>
}

/** Pairs where a name comes more than once. */
type Fields = Record<string, string> | readonly (readonly [name: string, value: string])[]

export interface Page {
  status: number
  headers: Headers
  text: string
}

/** What is between the header and the end of a page: the header has a menu of sites. */
export const mainOf = ({ text }: Pick<Page, 'text'>): string => /<main(.*)<\/main>/s.exec(text)?.[1] ?? ''

export type TestConsole = Awaited<ReturnType<typeof openConsole>>

export async function openConsole(test: TestContext, options: ConsoleOptions = {}) {
  const stores = options.stores ?? (await openStores())
  const { postgres, clickhouse } = stores
  const cluster = clusterOf([clickhouse])
  const passwords = options.passwords ?? createPasswords(cheapPasswords)
  const now = () => timeOf(options.now)
  const api = await startApi(stores, { now, ...(options.log && { log: options.log }) })
  const server = createServer((request, response) =>
    (request.url ?? '').startsWith('/api/') ? api.app.routing(request, response) : app.routing(request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const log = options.log ? pino({ level: 'trace' }, options.log) : pino({ level: 'silent' })
  const accountId = await createAccount(postgres, { name: 'A test', plan: options.plan ?? 'Agency' })
  const { provider, joinDomain } = options
  provider?.admit(url + callbackPath)
  const registry = new Registry()
  const outbox = options.sendsMail ? { secrets: keySecrets, publicUrl: url } : undefined
  const uploads = openUploads({
    config: {
      DATABASE_URL: stores.addresses.postgres,
      CLICKHOUSE_URL: stores.addresses.clickhouse,
      CLICKHOUSE_SHARDS: undefined,
      COUNTRY_FILE: undefined,
      UPLOAD_MAX_MB: options.uploadMaxMegabytes ?? 500,
    },
    postgres,
    outbox,
    log,
  })
  const app = buildConsole({
    postgres,
    cluster,
    directory: api.directory,
    stats: options.stats ?? createStatsService({ cluster, now, cacheBytes: 0 }),
    limiter: 'limiter' in options ? options.limiter : api.limiter,
    registry,
    passwords,
    keySecrets,
    singleSignOn: provider && {
      provider: createProvider(provider.settings, { publicUrl: url, log }),
      joining: joinDomain ? { domain: joinDomain, accountId } : undefined,
    },
    publicUrl: url,
    webhookRules: { resolve: async () => ['127.0.0.1'], isAllowed: networksOf(['127.0.0.1']) },
    outbox,
    uploads,
    now,
    log,
    clientAddress: createClientAddress(networksOf(['127.0.0.1'])),
    isEnding: options.isEnding ?? (() => false),
  })
  await app.ready()
  test.after(async () => {
    await uploads.close()
    server.close()
    server.closeAllConnections()
    await app.close()
    await api.close()
  })

  let passwordHash: Promise<string> | undefined
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, { accountId, domain })

  return {
    stores,
    api,
    registry,
    url,
    accountId,
    siteId,
    domain,
    /** A new user of an account, of the console's own unless another is named. */
    async addUser(role: Role, inAccount = accountId): Promise<{ id: string; email: string }> {
      passwordHash ??= passwords.hash(password)
      const email = `${randomUUID()}@example.com`
      const id = await createUser(postgres, email, await passwordHash)
      await addMember(postgres, inAccount, id, role)
      return { id, email }
    },
    /** The token of an invitation to the console's own account. */
    invite: async (email: string, role: Role = 'viewer'): Promise<string> =>
      (await inviteMember(postgres, undefined, commandLine, { accountId, email, role }))?.token as string,
    /** Another account with a site of its own. */
    async addAccount(plan: Plan = 'Agency') {
      const otherAccountId = await createAccount(postgres, { name: 'Another test', plan })
      const otherDomain = `${randomUUID()}.example`
      const otherSiteId = await createSite(postgres, { accountId: otherAccountId, domain: otherDomain })
      return { accountId: otherAccountId, siteId: otherSiteId, domain: otherDomain }
    },
    /** A visitor who is signed in as a new user. */
    async signedIn(role: Role, inAccount = accountId): Promise<Visitor & { userId: string }> {
      const { id, email } = await this.addUser(role, inAccount)
      const value = await createSession(postgres, id, { address: '127.0.0.0', browser: 'A test' })
      return { ...visitorAt(url, email, new Map([['footfall-session', value]])), userId: id }
    },
    /** A visitor who is not signed in. */
    stranger: (): Visitor => visitorAt(url, '', new Map()),
  }
}

/** A test may change the time of its options. */
const timeOf = (now: ConsoleOptions['now'] = Date.now): number =>
  typeof now === 'function' ? now() : Temporal.Instant.from(now).epochMilliseconds

/**
 * What the console drops from the directory itself. The notification of a change usually comes first, so a test cannot see by the
 * answers whether the console waited for it.
 */
export function forgottenBy({ api: { directory } }: TestConsole): string[] {
  const forgotten: string[] = []
  const { forget } = directory
  directory.forget = (id) => {
    forgotten.push(id)
    forget(id)
  }
  return forgotten
}

/** What the audit log says about a subject: actor, action, details, address; the oldest first. */
export async function entriesOf({ stores, accountId }: TestConsole, subject: string): Promise<string[][]> {
  const rows = await stores.postgres<{ actor: string; action: string; details: string; address: string }[]>`
    SELECT actor, action, details, address FROM audit_log
    WHERE account_id = ${accountId} AND subject = ${subject} ORDER BY id`
  return rows.map(({ actor, action, details, address }) => [actor, action, details, address])
}

function visitorAt(url: string, email: string, cookies: Map<string, string>): Visitor {
  async function send(path: string, init: RequestInit = {}): Promise<Page> {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie && { Cookie: cookie }), ...(init.headers as Record<string, string>) }
    const response = await fetch(url + path, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  return {
    email,
    cookies,
    get: (path, headers = {}) => send(path, { headers }),
    async post(page, action, fields = {}, headers = {}) {
      const { text } = await send(page)
      const [, token = ''] = /name="token" value="([^"]*)"/.exec(text) ?? []
      const named = Array.isArray(fields) ? fields : Object.entries(fields)
      const body = new URLSearchParams([
        ...(named.some(([name]) => name === 'token') ? [] : [['token', token]]),
        ...named,
      ])
      return send(action, {
        method: 'POST',
        body: body.toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: url, ...headers },
      })
    },
  }
}
