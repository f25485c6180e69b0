// The salts that visitor ids are made with (decisions D-3 and D-90): random, one for each day of each zone, in PostgreSQL so that all
// collectors use the same, and gone two days after the day has ended everywhere.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { clockToleranceMs } from '../stores/clocks.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { BoundedReads } from '../stores/request-postgres.ts'
import { dayIn } from './calendar.ts'

export interface Salts {
  /** Throws while PostgreSQL does not answer and the salt is not known yet: an id made with another one could not be put right. */
  of(zone: string, day: string): KeyObject | Promise<KeyObject>
  close(): void
}

const lookAheadMs = 10 * 60_000
const dayMs = 24 * 3_600_000

export function openSalts(
  postgres: Postgres,
  bounded: BoundedReads,
  onError: (error: Error) => void,
  now: () => number = Date.now,
): Salts {
  const known = new Map<string, KeyObject>()
  const zones = new Set<string>()
  const loading = new Map<string, Promise<KeyObject>>()

  async function load(zone: string, day: string): Promise<KeyObject> {
    const rows = await bounded.read(() => insertOrSelect(postgres, zone, day))
    const key = createSecretKey((rows[0] as { salt: Buffer }).salt)
    known.set(`${zone} ${day}`, key)
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

  /** Tomorrow's salts are fetched today, so that a midnight without PostgreSQL is like any other; yesterday's are forgotten. */
  async function lookAhead(): Promise<void> {
    await deleteOld()
    for (const zone of zones) {
      const tomorrow = dayIn(zone, now() + dayMs)
      const today = dayIn(zone, now())
      for (const name of known.keys()) if (name.startsWith(`${zone} `) && name < `${zone} ${today}`) known.delete(name)
      if (!known.has(`${zone} ${tomorrow}`)) await loadOnce(zone, tomorrow)
    }
  }

  const timer = setInterval(() => void lookAhead().catch(onError), lookAheadMs)
  void deleteOld().catch(onError)

  return {
    of(zone, day) {
      const salt = known.get(`${zone} ${day}`)
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

/** Who comes first decides; everyone is given the same. */
const insertOrSelect = (postgres: Postgres, zone: string, day: string) => postgres<{ salt: Buffer }[]>`
  INSERT INTO salts (time_zone, day, salt) VALUES (${zone}, ${day}, ${randomBytes(32)})
  ON CONFLICT (time_zone, day) DO UPDATE SET salt = salts.salt
  RETURNING salt`

const clocksDiffer =
  'Old salts are not deleted: the clocks of this machine and of PostgreSQL differ by more than a minute. See: footfall doctor'

/**
 * A day ends last at UTC-12, at noon UTC of the next; 48 hours later its salt goes. That of an import goes when it ends, or 30 days
 * after it was begun (decision D-120). By PostgreSQL's clock, and not while ours says something else: a salt that goes too early would
 * count everybody of its day twice. False then.
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
