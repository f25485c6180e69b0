// The results, and a sentence for each one that must not occur.
import type { AssistantCounts } from './assistants.ts'
import type { LateCounts } from './late-directory.ts'
import { type EnumCounts, maxDifferenceMs, type RefusalCounts } from './refusals.ts'
import type { StatementCounts } from './statement-cases.ts'
import type { TrafficCounts } from './traffic.ts'

/** One result for each requested part. */
export interface Found {
  statements?: StatementCounts
  lookups?: LateCounts
  traffic?: TrafficCounts
  refusals?: RefusalCounts
  enum?: EnumCounts
  assistants?: AssistantCounts
}

export function shortcomings({ statements, lookups, traffic, refusals, assistants }: Found): string[] {
  const short: string[] = []
  const must = (holds: boolean, otherwise: string) => void (holds || short.push(otherwise))
  if (statements) must(statements.breaches === 0, `${statements.breaches} statements are not scoped`)
  if (lookups) {
    must(lookups.wrong === 0, `${lookups.wrong} of ${lookups.lookups} late lookups found another's row`)
    must(lookups.refused > 0, 'no lookup was late: the stopped PostgreSQL tested nothing')
  }
  if (traffic) {
    const { breaches, answered } = traffic
    must(breaches.foreign === 0, `${breaches.foreign} responses contain data of another site`)
    must(breaches.wrong === 0, `${breaches.wrong} responses have wrong numbers`)
    must(breaches.tags === 0, `${breaches.tags} ETags belong to something else`)
    must(breaches.unexpected === 0, `${breaches.unexpected} responses were not expected`)
    must(answered.last > 0, 'no cached response was sent in the outage: it tested nothing')
    must(answered.notModified > 0, 'no ETag ever matched')
    must(traffic.maxInFlight >= 64 && traffic.maxIdenticalInFlight >= 2, 'too few concurrent requests')
    must(traffic.exclusionChanges > 0, 'no exclusion ever changed')
  }
  if (refusals) must(refusals.different === 0, `${refusals.different} refusals tell an unknown site from a foreign one`)
  if (assistants) {
    must(assistants.foreign === 0, `${assistants.foreign} answers of tools contain data of another site`)
    must(assistants.wrong === 0, `${assistants.wrong} calls of tools were wrongly answered or refused`)
    must(assistants.answered > 0 && assistants.refused > 0, 'assistants tested nothing')
  }
  return short
}

/** Differences of time, which a busy machine may cause. */
export function tellingTimes({ enum: timing }: Found): string[] {
  const short: string[] = []
  for (const name of timing ? (['remembered', 'guessed'] as const) : []) {
    const { differenceMs } = (timing as EnumCounts)[name]
    if (Math.abs(differenceMs) < maxDifferenceMs[name]) continue
    short.push(`${name}: unknown and foreign sites differ by ${differenceMs.toFixed(3)} ms`)
  }
  return short
}
