// Shared by the contract tests: assertions about responses, and further keys and sites.
import assert from 'node:assert/strict'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import type { Plan } from '../../src/accounts/plans.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { type ReportName, reports } from '../../src/stats/reports.ts'
import { keySecrets, type Stores } from '../support/stores.ts'
import type { Answer, World } from '../support/world.ts'

export const reportNames = Object.keys(reports) as ReportName[]

/** The reports of docs/contract.md 4, for tests that list every response by hand. Other tests use every report. */
export const contractReports = [
  'overview',
  'timeseries',
  'pages',
  'referrers',
  'channels',
  'devices',
  'geo',
  'events',
  'utm',
] as const satisfies ReportName[]

/** Where `limit` applies: the reports of docs/contract.md 8.2, and every further report that declares it. */
export const limitedReports: ReportName[] = [
  'pages',
  'referrers',
  'devices',
  'geo',
  'events',
  'utm',
  ...reportNames.filter((name) => !contractReports.some((known) => known === name) && reports[name].limited),
]

/** The current time of most tests, a Sunday at noon: 7d is 2026-11-09 to 2026-11-15, compared with 2026-11-02 to 2026-11-08. */
export const noon = '2026-11-15T12:00:00Z'

export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Maps eight items at a time, so that a long table does not flood the API. */
export async function inTurns<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = []
  for (let from = 0; from < items.length; from += 8)
    values.push(...(await Promise.all(items.slice(from, from + 8).map(work))))
  return values
}

/** `ok` or the error code. */
export const codeOf = ({ status, json }: Answer): string => (status === 200 ? 'ok' : String(json?.error?.code))

/** Asserts the exact envelope of docs/contract.md 2.4. */
export function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual({ status: answer.status, code: answer.json?.error?.code }, { status, code }, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  assert.deepEqual(Object.keys(answer.json), ['error'])
  assert.deepEqual(Object.keys(answer.json.error), ['code', 'message'])
  assert.equal(typeof answer.json.error.message, 'string')
  assert.ok(answer.json.error.message.length > 0)
}

export const rateLimitNames = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** The numbers of the three rate limit headers, or undefined when the response has none of them. */
export function rateLimitOf({ headers }: Answer): { limit: number; remaining: number; reset: number } | undefined {
  const [limit, remaining, reset] = rateLimitNames.map((name) => headers.get(name))
  if (limit === null && remaining === null && reset === null) return undefined
  for (const value of [limit, remaining, reset]) assert.match(value ?? '', /^\d+$/)
  return { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) }
}

/** A request with a key other than the world's. */
export const as = (keyText: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${keyText}` },
})

export const newSiteKey = ({ stores, accountId, siteId }: World, expiresAt?: Date) =>
  createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Another', ...(expiresAt && { expiresAt }) })

export const newAccountKey = ({ stores, accountId }: World) =>
  createKey(stores.postgres, keySecrets, { accountId, name: 'Account' })

export const newSite = ({ stores, accountId }: { stores: Stores; accountId: string }) =>
  createSite(stores.postgres, { accountId, domain: `${crypto.randomUUID()}.example` })

/** A site of another account. */
export async function foreignSite(stores: Stores, plan: Plan = 'Agency'): Promise<string> {
  const accountId = await createAccount(stores.postgres, { name: 'Somebody else', plan })
  return newSite({ stores, accountId })
}
