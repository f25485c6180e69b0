import { hourMs } from '../durations.ts'
import { goodBackups, lastGood } from './backup-schedule.ts'
import type { Context } from './command.ts'

/** Between two backups that are made every day, with time for a long one and for some attempts. */
const maxAgeMs = 26 * hourMs

/** For `footfall doctor`: how old the last good backup is. */
export async function backupState({
  config: { BACKUP_FOLDER: folder },
}: Context): Promise<{ state: 'ok' | 'warning'; found: string; advice?: string }> {
  if (folder === undefined) return { state: 'ok', found: 'none scheduled; BACKUP_FOLDER makes footfall serve do it' }
  const last = lastGood(folder, Date.now())
  const advice =
    'footfall serve makes one every day, and its log says why it could not. To make one now, run: footfall backup --scheduled'
  if (!last) return { state: 'warning', found: `there is no good one in ${folder}`, advice }
  const age = Date.now() - last.time
  const found = `the last good one is ${Math.round(age / hourMs)} hours old, ${last.name}; ${folder} has ${goodBackups(folder).length}`
  return age > maxAgeMs ? { state: 'warning', found, advice } : { state: 'ok', found }
}
