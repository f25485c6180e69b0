// Events of a site that moves are set aside in the spool: in groups of their own, one site each, with shard 0. When PostgreSQL reports the
// shard of the site, these groups get that shard. Groups change only while no batch of their shard is planned, so a batch that is sent
// again has the same events.
import type { DatabaseSync } from 'node:sqlite'
import { writeWithReserve } from '../spool/files.ts'
import type { Placements } from './placements.ts'

const nowhere = 0

/** Moves groups that were set aside to this shard, if their sites are on it. */
export function bringBack(file: DatabaseSync, folder: string, shard: number, placements: Placements): void {
  const aside = file
    .prepare('SELECT number, substr(lines, 1, instr(lines || char(10), char(10))) AS line FROM groups WHERE shard = ?')
    .all(nowhere) as { number: number; line: string }[]
  const own = aside.filter(({ line }) => placements.of(siteOf(line)) === shard)
  if (own.length === 0) return
  const move = file.prepare('UPDATE groups SET shard = ? WHERE number = ?')
  writeWithReserve(file, folder, () => {
    for (const { number } of own) move.run(shard, number)
  })
}

/** Sets aside the events that do not belong to this shard, in groups up to `last`. Returns whether there were any. */
export function setAside(
  file: DatabaseSync,
  folder: string,
  { shard, last }: { shard: number; last: number },
  placements: Placements,
): boolean {
  const groups = file
    .prepare('SELECT number, lines FROM groups WHERE shard = ? AND number <= ? AND NOT kept')
    .all(shard, last) as { number: number; lines: string }[]
  const bySite = new Map<string, string[]>()
  const changed: { number: number; rest: string[] }[] = []
  for (const { number, lines } of groups) {
    const all = lines.split('\n')
    const rest = all.filter((line) => {
      const siteId = siteOf(line)
      const current = placements.of(siteId)
      if (current === undefined || current === shard) return true
      const some = bySite.get(siteId)
      if (some) some.push(line)
      else bySite.set(siteId, [line])
      return false
    })
    if (rest.length < all.length) changed.push({ number, rest })
  }
  if (changed.length === 0) return false
  const shorten = file.prepare('UPDATE groups SET lines = ?, events = ? WHERE number = ?')
  const remove = file.prepare('DELETE FROM groups WHERE number = ?')
  const add = file.prepare('INSERT INTO groups (number, shard, events, lines) VALUES (?, ?, ?, ?)')
  writeWithReserve(file, folder, () => {
    for (const { number, rest } of changed) {
      if (rest.length > 0) shorten.run(rest.join('\n'), rest.length, number)
      else remove.run(number)
    }
    let number = newNumber()
    for (const lines of bySite.values()) add.run(number++, nowhere, lines.length, lines.join('\n'))
  })
  return true
}

/** Inside JSON strings every quotation mark is escaped, so this matches only the field itself. */
export const siteOf = (line: string): string => /"siteId":"([^"]*)"/.exec(line)?.[1] ?? ''

/** Numbers that one call may use, one per site: more than it ever needs. */
const numbersOfCall = 1_000_000
let lastNumber = -Number.MAX_SAFE_INTEGER

/** Negative, growing and never used twice: the thread that writes groups counts from 1 (spool/worker.ts). */
function newNumber(): number {
  lastNumber = Math.max(lastNumber + numbersOfCall, Date.now() * 1_000 - Number.MAX_SAFE_INTEGER)
  return lastNumber
}
