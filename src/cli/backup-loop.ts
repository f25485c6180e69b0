// Makes the scheduled backups of `footfall serve` (decision D-232), in a process of its own: `footfall backup --scheduled`.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import { withLease } from '../cluster/lease.ts'
import type { Config } from '../config.ts'
import { minuteMs } from '../durations.ts'
import type { Postgres } from '../stores/postgres.ts'
import { isDue, lastGood } from './backup-schedule.ts'

const everyMs = 10_000
/** After a failure. A store that was down for a moment must not cost the backup of the day. */
const retryMs = 15 * minuteMs

const run = promisify(execFile)
const command = new URL('main.ts', import.meta.url).pathname

export interface BackupLoop {
  /** Ends a running backup, which the next one begins again. */
  stop(): Promise<void>
}

type BackupSettings = Pick<Config, 'BACKUP_FOLDER' | 'BACKUP_HOUR'>

/** Undefined if no folder is set. */
export function startBackups(
  { BACKUP_FOLDER: folder, BACKUP_HOUR: hour }: BackupSettings,
  { log, postgres, registry }: { log: Logger; postgres: Postgres; registry: Registry },
): BackupLoop | undefined {
  if (folder === undefined) return undefined
  const isMissing = () => isDue(lastGood(folder, Date.now())?.time, Date.now(), hour)
  showAge(registry, folder)
  const ending = new AbortController()
  const { signal } = ending

  async function look(): Promise<void> {
    if (!isMissing()) return
    // Of several that share the folder, one makes the backup. Who gets the lease afterwards looks again.
    await withLease(postgres, 'scheduled backup', async () => {
      if (!isMissing()) return
      const began = performance.now()
      const { stdout } = await run(process.execPath, [command, 'backup', '--scheduled', '--json'], { signal })
      const { folder: written, removed } = JSON.parse(stdout) as { folder: string; removed: string[] }
      const seconds = Math.round((performance.now() - began) / 1000)
      log.info({ folder: written, removed: removed.length, seconds }, 'made a backup')
    })
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await look().then(
        () => everyMs,
        (error: Error & { stderr?: string }) => {
          if (!signal.aborted) log.error({ cause: error.stderr || error.message }, 'the backup failed; trying again')
          return retryMs
        },
      )
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  const watching = watch()
  return {
    async stop() {
      ending.abort()
      await watching
    },
  }
}

function showAge(registry: Registry, folder: string): void {
  new Gauge({
    name: 'footfall_backup_age_seconds',
    help: 'Seconds since the last good scheduled backup began; +Inf while there is none.',
    registers: [registry],
    collect() {
      this.set(ageSeconds(folder))
    },
  })
}

/** A folder that cannot be read is as bad as one without a backup, and no reason to show no other metric. */
function ageSeconds(folder: string): number {
  const now = Date.now()
  try {
    return (now - (lastGood(folder, now)?.time ?? Number.NEGATIVE_INFINITY)) / 1000
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
