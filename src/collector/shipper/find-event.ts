// Looks for an event on the disk of a collector of this machine, beside the collector and the shipper that use it. It opens all files read-only.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { spoolFilePath, spoolFiles } from '../spool/files.ts'
import type { SpooledLine } from '../spool/spooled-event.ts'
import { keyOf } from './shipped.ts'

interface Finding {
  state: 'spooled' | 'shipped' | 'refused' | 'nothing'
  isWhole: boolean
}

/** Undefined: no collector uses this folder. `maxBytes` of the newest events are read, because after an outage there may be gigabytes. */
export function findInSpool(
  folder: string,
  event: { siteId: string; eventId: string },
  maxBytes = Number.POSITIVE_INFINITY,
): Finding | undefined {
  if (!existsSync(folder)) return undefined
  let left = maxBytes
  for (const number of spoolFiles(folder).reverse()) {
    const path = spoolFilePath(folder, number)
    const found = read(path, (file) => {
      for (const { lines } of file.prepare('SELECT lines FROM groups ORDER BY number DESC').iterate() as Iterable<{
        lines: string
      }>) {
        if (left <= 0) return false
        left -= lines.length
        if (lines.includes(event.eventId) && lines.split('\n').some((line) => isOf(line, event))) return true
      }
      return false
    })
    if (found) return { state: 'spooled', isWhole: false }
  }
  const isWhole = left > 0
  if (isRefused(folder, event)) return { state: 'refused', isWhole }
  return { state: wasShipped(folder, event) ? 'shipped' : 'nothing', isWhole }
}

function isOf(line: string, { siteId, eventId }: { siteId: string; eventId: string }): boolean {
  if (!line.includes(eventId)) return false
  const { event } = JSON.parse(line) as SpooledLine
  return event.eventId === eventId && event.siteId === siteId
}

const isRefused = (folder: string, event: { siteId: string; eventId: string }): boolean =>
  read(join(folder, 'dead-letters.sqlite'), (file) => {
    const rows = file.prepare('SELECT line FROM letters WHERE instr(line, ?) > 0').all(event.eventId)
    return (rows as unknown as { line: string }[]).some(({ line }) => isOf(line, event))
  }) ?? false

/** The shipper remembers for an hour what it has shipped. */
const wasShipped = (folder: string, event: { siteId: string; eventId: string }): boolean =>
  read(join(folder, 'shipped.sqlite'), (file) => {
    const key = Buffer.from(keyOf(event), 'latin1')
    for (const { keys } of file.prepare('SELECT keys FROM batches').iterate() as Iterable<{ keys: Uint8Array }>)
      for (let at = 0; at < keys.length; at += key.length)
        if (key.equals(keys.subarray(at, at + key.length))) return true
    return false
  }) ?? false

/** Undefined: there is no such file, or the shipper has just removed it. */
function read<Value>(path: string, work: (file: DatabaseSync) => Value): Value | undefined {
  if (!existsSync(path)) return undefined
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 1_000 })
    return work(file)
  } catch (error) {
    if (existsSync(path)) throw error
    return undefined
  } finally {
    file?.close()
  }
}
