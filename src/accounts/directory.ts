// Caches keys and sites in memory for the gate. They are at most a second old while PostgreSQL is up.
//
// Cached entries do not expire. PostgreSQL increments one counter with every change (migrations/postgres/0001_baseline.sql). The
// notification of a change drops the entries that it concerns, and polling the counter detects lost notifications. While the
// counter cannot be read, entries stay valid for 15 minutes: an outage is no reason to refuse a key (decision D-69).
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { minuteMs } from '../durations.ts'
import { within } from '../stores/deadline.ts'
import type { OnChange } from '../stores/dependency-status.ts'
import type { Postgres } from '../stores/postgres.ts'
import { boundReads } from '../stores/request-postgres.ts'
import { type ApiKey, type KeySecrets, keyOf, selectKey } from './keys.ts'
import {
  type ListedSite,
  type Site,
  selectListedSites,
  selectSite,
  selectSiteOfDomain,
  selectSites,
  siteOf,
} from './sites.ts'

const pollMs = 500
const goodbyeMs = 250
/** When polling finds a change, its notification gets this long to arrive. */
const noticeMs = 100
const standardUnconfirmedMs = 15 * minuteMs
const maxEntries = 100_000

/** The subject of entries that a new site may change: domains without a site, and the sites of an account. */
const anySite = 'any site'

export interface Directory {
  /** Does not cache unknown keys: a made-up key never comes twice. */
  key(text: string): Promise<ApiKey | undefined>
  /** Caches unknown sites like known ones, so that both cost the same (docs/contract.md 7, no oracle). */
  site(id: string): Promise<Site | undefined>
  /** Reads several sites with one statement, in the order of the ids. Leaves out sites that no longer exist. */
  sites(ids: readonly string[]): Promise<Site[]>
  /** The sites of an account, by domain. */
  sitesOf(accountId: string): Promise<readonly ListedSite[]>
  /** Returns synchronously when the site is cached, because every hit calls this. */
  siteOfDomain(domain: string): Site | undefined | Promise<Site | undefined>
  /** Drops the cached entries of a key, site or account. The process that has just changed it calls this. */
  forget(id: string): void
  close(): Promise<void>
}

interface Entry {
  value: ApiKey | Site | readonly ListedSite[] | undefined
  /** A change to any of these drops the entry. */
  subjects: readonly string[]
  loadedAt: number
}

export interface DirectoryOptions {
  /** Without them every key is unknown. */
  secrets?: KeySecrets
  onChange?: OnChange
  queryMs?: number
  now?(): number
  unconfirmedMs?: number
  /**
   * Throws if PostgreSQL is an older copy than the data of another store. Called at the start, when the counter went back, and when another
   * database answers.
   */
  refuseOlder?(): Promise<void>
}

export function openDirectory(postgres: Postgres, options: DirectoryOptions = {}): Directory {
  const { secrets, onChange = () => {}, queryMs, unconfirmedMs = standardUnconfirmedMs } = options
  const { now = () => performance.now() } = options // never the wall clock, which can jump
  const bounded = boundReads(postgres, onChange, queryMs)
  // A Map instead of lru-cache: reading one of 1,000 entries takes 0.02 us instead of 0.05 us.
  const entries = new Map<string, Entry>()
  /** The entries that a change of a subject drops. Walking through 100,000 entries instead took 3 ms for every change of any site. */
  const namesOf = new Map<string, Set<string>>()
  const loading = new Map<string, Promise<Entry>>()
  let version: bigint | undefined
  /** Identifies the database and its last start: the counter of a restored database may have the same value. */
  let start: string | undefined
  let confirmedAt = Number.NEGATIVE_INFINITY
  let generation = 0
  /** Set while PostgreSQL may be an older copy: then no site is read from it. */
  let doubt = options.refuseOlder?.()
  doubt?.catch(() => {}) // the first poll checks again

  function forget(subject: string): void {
    generation++
    loading.clear() // later callers must not get a value from before the change
    for (const name of namesOf.get(subject) ?? []) drop(name)
  }

  /** For a change of an account, a site or a key. After a change of rollups `forget` is enough: it adds or removes no site. */
  function forgetChanged(subject: string): void {
    forget(subject)
    if (subject.startsWith('site_')) forget(anySite)
  }

  function drop(name: string): void {
    for (const subject of entries.get(name)?.subjects ?? []) {
      const names = namesOf.get(subject)
      names?.delete(name)
      if (names?.size === 0) namesOf.delete(subject)
    }
    entries.delete(name)
  }

  function forgetAll(): void {
    generation++
    loading.clear()
    entries.clear()
    namesOf.clear()
  }

  function cached(name: string): Entry | undefined {
    const entry = entries.get(name)
    if (!entry || now() - Math.max(entry.loadedAt, confirmedAt) >= unconfirmedMs) return undefined
    if (entries.size > maxEntries / 2) {
      entries.delete(name) // move it to the end: the first entry of a Map is the least recently used
      entries.set(name, entry)
    }
    return entry
  }

  async function lookUp(name: string, load: () => Promise<Omit<Entry, 'loadedAt'>>): Promise<Entry['value']> {
    const entry = cached(name)
    if (entry) return entry.value
    const running = loading.get(name)
    if (running) return (await running).value
    const pending = read(name, load).finally(() => {
      if (loading.get(name) === pending) loading.delete(name)
    })
    loading.set(name, pending)
    return (await pending).value
  }

  async function read(name: string, load: () => Promise<Omit<Entry, 'loadedAt'>>): Promise<Entry> {
    const loadedAt = now()
    const startGeneration = generation
    const entry = { ...(await load()), loadedAt }
    keep(name, entry, startGeneration)
    return entry
  }

  /** A change during the read may be missing from its result: then the result is returned, but not cached. */
  function keep(name: string, entry: Entry, startGeneration: number): void {
    if (generation !== startGeneration || entry.subjects.length === 0) return
    drop(name)
    entries.set(name, entry)
    for (const subject of entry.subjects) {
      const names = namesOf.get(subject) ?? new Set()
      namesOf.set(subject, names.add(name))
    }
    if (entries.size > maxEntries) drop(entries.keys().next().value as string)
  }

  async function poll(): Promise<void> {
    const polledAt = now()
    const before = version
    const [row] = await bounded.read(
      () => postgres<{ version: string; start: string }[]>`SELECT version, this_start() AS start FROM control_version`,
    )
    const current = BigInt(row?.version ?? 0)
    const isAnother = start !== undefined && start !== row?.start
    if (doubt || isAnother || (version !== undefined && current < version)) await settleDoubt()
    if (isAnother) version = undefined
    start = row?.start
    // The notification may still be on its way. With many changes per second, dropping all entries for each would leave nothing cached.
    if (version !== undefined && current > version) await sleep(noticeMs)
    const heardMeanwhile = version !== undefined && before !== undefined && version > before && current <= version
    if (version !== current && !heardMeanwhile) {
      forgetAll()
      version = current
    }
    confirmedAt = polledAt
  }

  async function settleDoubt(): Promise<void> {
    doubt = options.refuseOlder?.()
    await doubt
    doubt = undefined
  }

  function hear(notice: string): void {
    const [noticeVersion, subject, what] = notice.split(' ') as [string, string, string?]
    // Notifications arrive in commit order, so a gap means that some were lost.
    if (version !== undefined && BigInt(noticeVersion) > version + 1n) forgetAll()
    else if (what === 'rollups') forget(subject)
    else forgetChanged(subject)
    if (version !== undefined && BigInt(noticeVersion) > version) version = BigInt(noticeVersion)
  }

  // The breaker reports a failure once. The next poll tries again.
  const pollQuietly = () => void poll().catch(() => {})
  const listening = postgres.listen('footfall_changes', hear, pollQuietly)
  listening.catch(() => {})
  const timer = setInterval(pollQuietly, pollMs)

  return {
    key: (text) =>
      lookUp(hash('sha256', text), async () => {
        const [row] = secrets ? await bounded.read(() => selectKey(postgres, secrets, text)) : []
        return row ? { value: keyOf(row), subjects: [row.id, row.account_id] } : { value: undefined, subjects: [] }
      }) as Promise<ApiKey | undefined>,
    site: (id) =>
      lookUp(id, async () => {
        await doubt
        const [row] = await bounded.read(() => selectSite(postgres, id))
        return { value: row && siteOf(row), subjects: [id] }
      }) as Promise<Site | undefined>,
    async sites(ids) {
      const byId = new Map(ids.map((id) => [id, cached(id)?.value as Site | undefined]))
      const missing = ids.filter((id) => !byId.get(id))
      if (missing.length > 0) {
        const [loadedAt, startGeneration] = [now(), generation]
        await doubt
        for (const row of await bounded.read(() => selectSites(postgres, missing))) {
          const site = siteOf(row)
          byId.set(site.id, site)
          keep(site.id, { value: site, subjects: [site.id], loadedAt }, startGeneration)
        }
      }
      return ids.flatMap((id) => byId.get(id) ?? [])
    },
    sitesOf: (accountId) =>
      lookUp(`sites of ${accountId}`, async () => {
        const sites = await bounded.read(() => selectListedSites(postgres, accountId))
        // Sorted here, by code point, so that the order does not depend on the collation of the database.
        const value = sites.toSorted((one, other) => (one.domain < other.domain ? -1 : 1))
        return { value, subjects: [anySite] }
      }) as Promise<readonly ListedSite[]>,
    siteOfDomain(domain) {
      const name = `domain ${domain}`
      const entry = cached(name)
      if (entry) return entry.value as Site | undefined
      return lookUp(name, async () => {
        const [row] = await bounded.read(() => selectSiteOfDomain(postgres, domain))
        return { value: row && siteOf(row), subjects: [row?.id ?? anySite] }
      }) as Promise<Site | undefined>
    },
    forget: forgetChanged,
    async close() {
      clearInterval(timer)
      bounded.close()
      const silent = listening.then(({ unlisten }) => unlisten())
      await within(goodbyeMs, 'PostgreSQL', silent).catch(() => {}) // PostgreSQL may hang
    },
  }
}
