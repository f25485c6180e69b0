// What was found, and in words what of it must not be.
import type { LateTally } from './late-directory.ts'
import { type EnumTally, mostDifferenceMs, type RefusalTally } from './refusals.ts'
import type { StatementTally } from './statement-cases.ts'
import type { TrafficTally } from './traffic.ts'

/** One for each part that was asked for. */
export interface Found {
  statements?: StatementTally
  lookups?: LateTally
  traffic?: TrafficTally
  refusals?: RefusalTally
  enum?: EnumTally
}

export function shortcomings({ statements, lookups, traffic, refusals, enum: timing }: Found): string[] {
  const short: string[] = []
  const must = (holds: boolean, otherwise: string) => void (holds || short.push(otherwise))
  if (statements) must(statements.breaches === 0, `${statements.breaches} statements are not scoped`)
  if (lookups) {
    must(lookups.wrong === 0, `${lookups.wrong} of ${lookups.lookups} late lookups found another's row`)
    must(lookups.refused > 0, 'no lookup was late: the stopped PostgreSQL tested nothing')
  }
  if (traffic) {
    const { breaches, answered } = traffic
    must(breaches.foreign === 0, `${breaches.foreign} answers hold something of another site`)
    must(breaches.wrong === 0, `${breaches.wrong} answers have wrong numbers`)
    must(breaches.tags === 0, `${breaches.tags} tags stand for something else`)
    must(breaches.unexpected === 0, `${breaches.unexpected} answers were not expected`)
    must(answered.last > 0, 'no last answer was given: the outage tested nothing')
    must(answered.notModified > 0, 'no tag ever matched')
    must(traffic.mostInFlight >= 64 && traffic.mostIdenticalInFlight >= 2, 'too little was in flight at once')
    must(traffic.exclusionChanges > 0, 'no exclusion ever changed')
  }
  if (refusals) must(refusals.different === 0, `${refusals.different} refusals tell an unknown site from a foreign one`)
  for (const name of timing ? (['remembered', 'guessed'] as const) : []) {
    const { differenceMs } = (timing as EnumTally)[name]
    const difference = `${name}: unknown and foreign sites differ by ${differenceMs.toFixed(3)} ms`
    must(Math.abs(differenceMs) < mostDifferenceMs[name], difference)
  }
  return short
}
