// The clients of the fuzz run: accounts, sites and keys in every state, derived from the seed so that a run can be repeated byte for
// byte. Key texts are built here from decision D-40, not by the code under test.
import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createGoal } from '../../../src/accounts/goals.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { type Random, seeded } from '../../support/random.ts'
import { keySecrets } from '../../support/stores.ts'

export interface FuzzKey {
  id: string
  text: string
  accountId: string
  /** Undefined for an account key. */
  siteId?: string
  state: 'active' | 'disabled' | 'expired'
  /** Expired. A disabled key past its date still reports key_disabled (decision D-41). */
  isPastDate: boolean
  limit: number
  /** Used more often than its plan allows, so that it gets 429. */
  scarce: boolean
}

export interface FuzzWorld {
  /** Every stored key by its text. */
  keys: ReadonlyMap<string, FuzzKey>
  /** Each is used for so few requests that its quota never runs out. */
  plenty: readonly FuzzKey[]
  scarce: readonly FuzzKey[]
  /** For connections that break: the responses are lost, so the quota they used cannot be counted from outside. */
  careless: readonly FuzzKey[]
  /** Disabled, expired, both, and of an account without a plan. */
  refused: readonly FuzzKey[]
  sites: ReadonlyMap<string, { accountId: string; zone: string; goals: readonly string[] }>
}

/** Requests per hour by plan (docs/contract.md 8.1); 0 means no access. */
const limits = { Free: 0, Starter: 1000, Agency: 5000 } as const
const zones = ['UTC', 'Asia/Tokyo', 'America/New_York', 'Pacific/Auckland']
const hour = 3_600_000
const ownGoals = ['Signup', "'; DROP TABLE events; --", 'a, b']
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** `ff_s_` or `ff_a_`, 30 base62 characters, and the CRC32 of that in 6 base62 digits. */
export function keyText(random: Random, scope: 's' | 'a'): string {
  const unsigned = `ff_${scope}_${Array.from({ length: 30 }, () => base62[random.below(62)]).join('')}`
  return unsigned + checksumOf(unsigned)
}

export function checksumOf(unsigned: string): string {
  const digits: string[] = []
  for (let rest = crc32(unsigned), at = 0; at < 6; at++, rest = Math.floor(rest / 62))
    digits.unshift(base62[rest % 62] as string)
  return digits.join('')
}

export const siteIdOf = (random: Random): string => idOf(random, 'site')

const idOf = (random: Random, kind: string): string =>
  `${kind}_${Array.from({ length: 16 }, () => base32[random.below(32)]).join('')}`

export async function createAccounts(postgres: Postgres, seed: string, requests: number): Promise<FuzzWorld> {
  const random = seeded(`${seed}/accounts`)
  const account = (plan: keyof typeof limits) => ({ id: idOf(random, 'acct'), name: 'Fuzz', plan })
  const [main, stranger, small, free] = [account('Agency'), account('Agency'), account('Starter'), account('Free')]
  const site = (accountId: string, zone: string) => ({ id: idOf(random, 'site'), account_id: accountId, zone })
  const own = zones.map((zone) => site(main.id, zone))
  const [foreign, smallSite, freeSite] = [site(stranger.id, 'UTC'), site(small.id, 'UTC'), site(free.id, 'UTC')]

  const key = (accountId: string, siteId: string | undefined, more: Partial<FuzzKey> = {}): FuzzKey => ({
    id: idOf(random, 'key'),
    text: keyText(random, siteId ? 's' : 'a'),
    accountId,
    ...(siteId && { siteId }),
    state: 'active',
    isPastDate: false,
    limit: limits.Agency,
    scarce: false,
    ...more,
  })
  // Less than half of all requests are counted, spread evenly: 2,500 per key use half of its 5,000.
  const plenty = Array.from({ length: Math.max(16, Math.ceil(requests / 5000)) }, (_, at) =>
    key(main.id, at % 3 === 0 ? undefined : own[at % own.length]?.id),
  )
  const careless = Array.from({ length: Math.max(4, Math.ceil(requests / 20_000)) }, () => key(main.id, own[0]?.id))
  const scarce = Array.from({ length: Math.ceil(requests / 400_000) }, (_, at) =>
    key(small.id, at % 2 === 0 ? smallSite.id : undefined, { limit: limits.Starter, scarce: true }),
  )
  const refused = [own[0]?.id, undefined].flatMap((siteId) => [
    key(main.id, siteId, { state: 'disabled' }),
    key(main.id, siteId, { state: 'expired', isPastDate: true }),
    key(main.id, siteId, { state: 'disabled', isPastDate: true }),
    key(free.id, siteId && freeSite.id, { limit: limits.Free }),
  ])

  const sites = [...own, foreign, smallSite, freeSite]
  await postgres`INSERT INTO accounts ${postgres([main, stranger, small, free])}`
  await postgres`INSERT INTO sites ${postgres(
    sites.map(({ id, account_id, zone }) => ({ id, account_id, time_zone: zone, domain: `${id}.example` })),
  )}`
  const goalsOf = ({ account_id }: { account_id: string }): string[] =>
    account_id === main.id ? ownGoals : account_id === stranger.id ? ['Foreign goal'] : []
  for (const one of sites)
    for (const name of goalsOf(one))
      await createGoal(postgres, one.id, { name, condition: { kind: 'path', pattern: "/'; DROP TABLE events/**" } })
  const all = [...plenty, ...careless, ...scarce, ...refused]
  const rows = all.map((one) => ({
    id: one.id,
    account_id: one.accountId,
    site_id: one.siteId ?? null,
    name: 'Fuzz',
    prefix: one.text.slice(0, 9),
    hash: createHmac('sha256', keySecrets[0].secret).update(one.text).digest(),
    secret_version: keySecrets[0].version,
    disabled: one.state === 'disabled',
    expires_at: one.isPastDate ? new Date(Date.now() - hour) : null,
  }))
  for (let from = 0; from < rows.length; from += 500)
    await postgres`INSERT INTO api_keys ${postgres(rows.slice(from, from + 500))}`
  return {
    keys: new Map(all.map((one) => [one.text, one])),
    plenty,
    careless,
    scarce,
    refused,
    sites: new Map(sites.map((one) => [one.id, { accountId: one.account_id, zone: one.zone, goals: goalsOf(one) }])),
  }
}
