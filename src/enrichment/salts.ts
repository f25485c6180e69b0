// The salts of visitor ids (decisions D-3 and D-90): one random salt per day and zone, in PostgreSQL so that all collectors use the same
// one. A salt is deleted two days after its day has ended everywhere.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { clockToleranceMs } from '../cluster/clocks.ts'
import { dayMs, minuteMs } from '../durations.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { BoundedReads } from '../stores/request-postgres.ts'
import { dayIn } from './day.ts'

export interface Salts {
  /** Throws while PostgreSQL is down and the salt is not cached: an id made with another salt could never be corrected. */
  of(zone: string, day: string): KeyObject | Promise<KeyObject>
  close(): void
}

const lookAheadMs = 10 * minuteMs

export function openSalts(
  postgres: Postgres,
  bounded: BoundedReads,
  onError: (error: Error) => void,
  now: () => number = Date.now,
): Salts {
  const cached = new Map<string, KeyObject>()
  const zones = new Set<string>()
  const loading = new Map<string, Promise<KeyObject>>()

  async function load(zone: string, day: string): Promise<KeyObject> {
    const rows = await bounded.read(() => insertOrSelect(postgres, zone, day))
    const key = createSecretKey((rows[0] as { salt: Buffer }).salt)
    cached.set(`${zone} ${day}`, key)
    return key
  }

  function loadOnce(zone: string, day: string): Promise<KeyObject> {
    const name = `${zone} ${day}`
    const pending = loading.get(name) ?? load(zone, day).finally(() => loading.delete(name))
    loading.set(name, pending)
    return pending
  }

  async function deleteOld(): Promise<void> {
    if (!(await deleteOldSalts(postgres, now()))) onError(new Error(clocksDiffer))
  }

  /** Fetches tomorrow's salts today, so that midnight does not need PostgreSQL, and forgets yesterday's. */
  async function lookAhead(): Promise<void> {
    await deleteOld()
    for (const zone of zones) {
      const tomorrow = dayIn(zone, now() + dayMs)
      const today = dayIn(zone, now())
      for (const name of cached.keys())
        if (name.startsWith(`${zone} `) && name < `${zone} ${today}`) cached.delete(name)
      if (!cached.has(`${zone} ${tomorrow}`)) await loadOnce(zone, tomorrow)
    }
  }

  const timer = setInterval(() => void lookAhead().catch(onError), lookAheadMs)
  void deleteOld().catch(onError)

  return {
    of(zone, day) {
      const salt = cached.get(`${zone} ${day}`)
      if (salt) return salt
      if (!zones.has(zone)) {
        zones.add(zone)
        setImmediate(() => void lookAhead().catch(onError))
      }
      return loadOnce(zone, day)
    },
    close: () => clearInterval(timer),
  }
}

/** The first collector to insert decides; all others read its salt. */
const insertOrSelect = (postgres: Postgres, zone: string, day: string) => postgres<{ salt: Buffer }[]>`
  INSERT INTO salts (time_zone, day, salt) VALUES (${zone}, ${day}, ${randomBytes(32)})
  ON CONFLICT (time_zone, day) DO UPDATE SET salt = salts.salt
  RETURNING salt`

const clocksDiffer =
  'Old salts are not deleted: the clocks of this machine and of PostgreSQL differ by more than a minute. See: footfall doctor'

/**
 * A day ends last at UTC-12, at noon UTC of the next day; 48 hours later its salt is deleted. An import's salt is deleted when the import
 * ends, or 30 days after it began (decision D-120). Uses PostgreSQL's clock, and returns false without deleting anything while our clock
 * differs: if a salt were deleted too early, all visitors of its day would count twice.
 */
export async function deleteOldSalts(
  postgres: Postgres,
  now: number,
  readTime = async () => (await postgres<[{ time: Date }]>`SELECT clock_timestamp() AS time`)[0].time.getTime(),
): Promise<boolean> {
  const theirs = await readTime()
  if (Math.abs(theirs - now) > clockToleranceMs) return false
  const time = new Date(theirs).toISOString()
  await postgres`DELETE FROM salts WHERE day + 3 + time '12:00' <= ${time}::timestamptz AT TIME ZONE 'UTC'`
  await postgres`
    UPDATE imports SET salt = NULL WHERE salt IS NOT NULL AND started_at + interval '720 hours' <= ${time}::timestamptz`
  return true
}
