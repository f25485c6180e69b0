import { daysLeftOut, recountedInstallation } from '../recounting/rounds.ts'
import type { Context } from './command.ts'

/** For `footfall doctor`: how many answers were recounted from events, and whether some differed. */
export async function recountState({
  postgres,
}: Context): Promise<{ state: 'ok' | 'warning' | 'failed'; found: string; advice?: string }> {
  const recounted = await recountedInstallation(postgres)
  if (!recounted || recounted.answers === 0)
    return { state: 'ok', found: 'no answer was recounted yet; the process that rolls up does it when it has time' }
  const { answers, differences, open, since, visitedAt, days, emptyDays } = recounted
  const { dropped, imported } = await daysLeftOut(postgres)
  const so = `${count(answers)} answers about ${count(days)} days recounted from events since ${dayOf(since)}, the last at ${minuteOf(visitedAt ?? since)} UTC; left out: ${count(emptyDays)} days without events, ${count(dropped)} whose events retention dropped, and ${count(imported)} imported as daily sums`
  if (open > 0) {
    return {
      state: 'failed',
      found: `${so}; ${count(differences)} differed, and ${open} still do`,
      advice: 'See: footfall rollup differences. It is tried again every hour to roll up these days again.',
    }
  }
  return differences > 0
    ? {
        state: 'warning',
        found: `${so}; ${count(differences)} differed and were repaired`,
        advice: 'See: footfall rollup differences. Somebody or something has changed rollups in ClickHouse.',
      }
    : { state: 'ok', found: `${so}; none differed` }
}

const count = (number: number): string => number.toLocaleString('en')

const minuteOf = (time: Date): string => time.toISOString().slice(0, 16).replace('T', ' ')

const dayOf = (time: Date): string => time.toISOString().slice(0, 10)
