// Keys and sites as the gate sees them: from memory, yet never older than a second while PostgreSQL answers.
//
// A cached entry is not aged out: PostgreSQL raises one counter with every change (migrations/postgres/0002_changes.sql),
// its notice drops what the change concerns, and polling the counter finds whatever notice was missed. While the counter
// cannot be read, entries stay good for 15 minutes: an outage is no reason to refuse a key (decision D-69).
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../stores/deadline.ts'
import type { Postgres } from '../stores/postgres.ts'
import { boundReads } from '../stores/request-postgres.ts'
import type { OnChange } from '../stores/watch.ts'
import { type ApiKey, type KeySecrets, keyOf, selectKey } from './keys.ts'
import { type Site, selectSite, selectSiteOfDomain, siteOf } from './sites.ts'

const pollMs = 500
const goodbyeMs = 250
/** What a notice may take to arrive before its change is found by polling. */
const noticeMs = 100
const standardUnconfirmedMs = 15 * 60_000
const mostEntries = 100_000

/** Whose changes drop what is remembered of domains that nobody has: any site's, for a new one may have it. */
const anySite = 'any site'

export interface Directory {
  /** Unknown keys are not remembered: a made-up one never comes twice. */
  key(text: string): Promise<ApiKey | undefined>
  /** Unknown sites are remembered like known ones, so that both cost the same (docs/contract.md 7, no oracle). */
  site(id: string): Promise<Site | undefined>
  /** At once when it is remembered: every hit asks. */
  siteOfDomain(domain: string): Site | undefined | Promise<Site | undefined>
  /** Drops what is remembered of a key, site or account: for the process that has just changed it. */
  forget(id: string): void
  close(): Promise<void>
}

interface Entry {
  value: ApiKey | Site | undefined
  /** Whose changes drop it. */
  subjects: readonly string[]
  loadedAt: number
}

export interface DirectoryOptions {
  /** Without them no key is known. */
  secrets?: KeySecrets
  onChange?: OnChange
  queryMs?: number
  now?(): number
  unconfirmedMs?: number
}

export function openDirectory(postgres: Postgres, options: DirectoryOptions = {}): Directory {
  const { secrets, onChange = () => {}, queryMs, unconfirmedMs = standardUnconfirmedMs } = options
  const { now = () => performance.now() } = options // never the wall clock, which can jump
  const bounded = boundReads(postgres, onChange, queryMs)
  const entries = new Map<string, Entry>()
  const loading = new Map<string, Promise<Entry>>()
  let version: bigint | undefined
  let confirmedAt = Number.NEGATIVE_INFINITY
  let generation = 0

  function forget(subject: string): void {
    generation++
    loading.clear() // whoever asks from now on must not be given what was read before
    for (const [name, { subjects }] of entries) if (subjects.includes(subject)) entries.delete(name)
  }

  function forgetAll(): void {
    generation++
    loading.clear()
    entries.clear()
  }

  function remembered(name: string): Entry | undefined {
    const entry = entries.get(name)
    if (!entry || now() - Math.max(entry.loadedAt, confirmedAt) >= unconfirmedMs) return undefined
    if (entries.size > mostEntries / 2) {
      entries.delete(name) // and in again at the end: the first of a Map is the least recently used
      entries.set(name, entry)
    }
    return entry
  }

  async function look(name: string, load: () => Promise<Omit<Entry, 'loadedAt'>>): Promise<Entry['value']> {
    const entry = remembered(name)
    if (entry) return entry.value
    const known = loading.get(name)
    if (known) return (await known).value
    const pending = start(name, load).finally(() => {
      if (loading.get(name) === pending) loading.delete(name)
    })
    loading.set(name, pending)
    return (await pending).value
  }

  async function start(name: string, load: () => Promise<Omit<Entry, 'loadedAt'>>): Promise<Entry> {
    const loadedAt = now()
    const begun = generation
    const entry = { ...(await load()), loadedAt }
    // What changed while we read may have been read before it changed: answer with it, but do not keep it.
    if (generation === begun && entry.subjects.length > 0) {
      entries.set(name, entry)
      if (entries.size > mostEntries) entries.delete(entries.keys().next().value as string)
    }
    return entry
  }

  async function poll(): Promise<void> {
    const asked = now()
    const before = version
    const [row] = await bounded.read(() => postgres<{ version: string }[]>`SELECT version FROM control_version`)
    const current = BigInt(row?.version ?? 0)
    // A notice may be on its way: with many changes a second, forgetting all for each would leave nothing to remember.
    if (version !== undefined && current > version) await sleep(noticeMs)
    const heardMeanwhile = version !== undefined && before !== undefined && version > before && current <= version
    if (version !== current && !heardMeanwhile) {
      forgetAll()
      version = current
    }
    confirmedAt = asked
  }

  function hear(notice: string): void {
    const [heard, subject] = notice.split(' ') as [string, string]
    // Notices come in the order of commits, so a gap means that some were lost.
    if (version !== undefined && BigInt(heard) > version + 1n) forgetAll()
    else {
      forget(subject)
      if (subject.startsWith('site_')) forget(anySite)
    }
    if (version !== undefined && BigInt(heard) > version) version = BigInt(heard)
  }

  // What fails here is told by the breaker, once; the next poll tries again.
  const pollQuietly = () => void poll().catch(() => {})
  const listening = postgres.listen('footfall_changes', hear, pollQuietly)
  listening.catch(() => {})
  const timer = setInterval(pollQuietly, pollMs)

  return {
    key: (text) =>
      look(hash('sha256', text), async () => {
        const [row] = secrets ? await bounded.read(() => selectKey(postgres, secrets, text)) : []
        return row ? { value: keyOf(row), subjects: [row.id, row.account_id] } : { value: undefined, subjects: [] }
      }) as Promise<ApiKey | undefined>,
    site: (id) =>
      look(id, async () => {
        const [row] = await bounded.read(() => selectSite(postgres, id))
        return { value: row && siteOf(row), subjects: [id] }
      }) as Promise<Site | undefined>,
    siteOfDomain(domain) {
      const name = `domain ${domain}`
      const entry = remembered(name)
      if (entry) return entry.value as Site | undefined
      return look(name, async () => {
        const [row] = await bounded.read(() => selectSiteOfDomain(postgres, domain))
        return { value: row && siteOf(row), subjects: [row?.id ?? anySite] }
      }) as Promise<Site | undefined>
    },
    forget,
    async close() {
      clearInterval(timer)
      bounded.close()
      const silent = listening.then(({ unlisten }) => unlisten())
      await within(goodbyeMs, 'PostgreSQL', silent).catch(() => {}) // it may hang
    },
  }
}
