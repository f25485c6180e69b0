// The shards of sites that have moved. The collector stores each event with the shard that its site has at that moment, and the site may
// move before the event is shipped. `placements.sqlite` in the spool folder holds what PostgreSQL has reported, so that a shipper can
// restart while PostgreSQL is down (decision D-203). The file is about one installation and epoch: after a restore, sites may be on other
// shards (decision D-205).
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Placement } from '../../moving/collectors.ts'
import { openDurableFile, writeWithReserve } from '../spool/files.ts'

export interface Placements {
  /** The name of this collector in PostgreSQL. */
  readonly id: string
  /** Whether PostgreSQL knows this collector. Otherwise it must not ship. */
  readonly isKnown: boolean
  readonly size: number
  siteIds(): string[]
  /** The installation, with its epoch, that the placements are about. Undefined: a new spool. */
  readonly installation: string | undefined
  /** Whether events of the spool may already be in ClickHouse although no batch says so. */
  readonly isDoubtful: boolean
  /** The shard of a site; null while its events are held back; undefined if the site was never moved. */
  of(siteId: string): number | null | undefined
  /** Records what PostgreSQL reports. */
  take(changed: readonly Placement[]): void
  /** Replaces all placements by those of another installation or epoch. */
  changeInstallation(name: string, all: readonly Placement[]): void
  /** Ends the doubt: every event that was in the spool when the installation changed has been shipped. */
  settle(): void
  /** The sites whose events are held back, of this shard or of all. */
  held(shard?: number): Held[]
  /** Marks the collector as unknown to PostgreSQL: its spool is empty, so a move need not wait for it. */
  leave(): void
  close(): void
}

/** A site whose events are held back. */
interface Held extends Placement {
  hold: string
}

export function openPlacements(folder: string): Placements {
  const file = openDurableFile(
    join(folder, 'placements.sqlite'),
    `CREATE TABLE IF NOT EXISTS collector (id TEXT NOT NULL, is_known INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS life (name TEXT NOT NULL, is_doubtful INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS placements (site_id TEXT PRIMARY KEY, shard INTEGER NOT NULL, hold TEXT) STRICT;`,
  )
  const bySite = new Map<string, Placement>()
  const rows = file.prepare('SELECT site_id AS siteId, shard, hold FROM placements').iterate()
  for (const row of rows as Iterable<Placement & object>) bySite.set(row.siteId, row)
  const write = (work: () => void) => writeWithReserve(file, folder, work)
  let own = file.prepare('SELECT id, is_known FROM collector').get() as { id: string; is_known: number } | undefined
  if (!own) {
    own = { id: `coll_${randomUUID()}`, is_known: 0 }
    write(() => file.prepare('INSERT INTO collector (id, is_known) VALUES (?, 0)').run(own?.id ?? ''))
  }
  const { id } = own
  let isKnown = own.is_known === 1
  const put = file.prepare('INSERT OR REPLACE INTO placements (site_id, shard, hold) VALUES (?, ?, ?)')

  /** The table is called `life` in the spools of all versions. */
  let installation = file.prepare('SELECT name, is_doubtful FROM life').get() as
    | { name: string; is_doubtful: number }
    | undefined

  const setKnown = (now: boolean) => {
    write(() => file.prepare('UPDATE collector SET is_known = ?').run(now ? 1 : 0))
    isKnown = now
  }

  return {
    id,
    get isKnown() {
      return isKnown
    },
    get size() {
      return bySite.size
    },
    siteIds: () => [...bySite.keys()],
    get installation() {
      return installation?.name
    },
    get isDoubtful() {
      return installation?.is_doubtful === 1
    },
    changeInstallation(name, all) {
      const next = { name, is_doubtful: installation ? 1 : 0 }
      write(() => {
        file.exec('DELETE FROM life; DELETE FROM placements')
        file.prepare('INSERT INTO life (name, is_doubtful) VALUES (?, ?)').run(next.name, next.is_doubtful)
        for (const { siteId, shard, hold } of all) put.run(siteId, shard, hold)
      })
      installation = next
      bySite.clear()
      for (const placement of all) bySite.set(placement.siteId, placement)
    },
    settle() {
      if (!installation?.is_doubtful) return
      write(() => file.exec('UPDATE life SET is_doubtful = 0'))
      installation.is_doubtful = 0
    },
    of(siteId) {
      const placement = bySite.get(siteId)
      return placement && (placement.hold === null ? placement.shard : null)
    },
    take(changed) {
      const news = changed.filter(({ siteId, shard, hold }) => {
        const before = bySite.get(siteId)
        return before?.shard !== shard || before.hold !== hold
      })
      if (news.length > 0) {
        write(() => {
          for (const { siteId, shard, hold } of news) put.run(siteId, shard, hold)
        })
      }
      for (const placement of news) bySite.set(placement.siteId, placement)
      if (!isKnown) setKnown(true)
    },
    held: (shard) =>
      Array.from(bySite.values()).filter(
        (placement): placement is Held => placement.hold !== null && (shard === undefined || placement.shard === shard),
      ),
    leave: () => setKnown(false),
    close: () => file.close(),
  }
}
