// One visit of a day: its answers are recounted, a difference is looked at again, kept, repaired and looked at a last time.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Site, selectSite, siteOf } from '../accounts/sites.ts'
import { dayOf, intersect } from '../calendar/days.ts'
import type { Stores } from '../cluster/stores.ts'
import { minuteMs } from '../durations.ts'
import { rebuildDay } from '../rollups/roll-up.ts'
import type { Filters } from '../traffic/conditions.ts'
import { type Answer, askService, type Differing, differing, isTooLong, recount } from './answers.ts'
import { type Difference, noteDifference, noteRepaired, openDifferences } from './differences.ts'
import { type Meter, meter } from './meter.ts'
import { coreQuestions, furtherQuestions, type Question, randomFilters, requestOf } from './questions.ts'
import { type SiteDay, someVisits } from './statements.ts'

/** A visit asks no further questions when ClickHouse has worked so long: 10,000 days in a week at a hundredth of a core are 0.6 s of CPU a day. */
const enoughMs = 250
const filtersPerVisit = 2
/** An event is in ClickHouse before PostgreSQL knows that its day changed. The collector notes that within seconds. */
const defaultSettleMs = 2 * minuteMs
/** A rebuild uses two threads. */
const threadsOfRebuild = 2

export interface VisitOptions {
  now(): number
  signal: AbortSignal
  /** How long after a first difference the second comparison begins. */
  settleMs?: number | undefined
  onDifference?(site: Site, day: string, difference: Difference): void
}

export interface Visit {
  answers: number
  /** New ones. PostgreSQL has counted them already. */
  differences: number
  /** The day has no events, so nothing was compared. */
  isEmpty: boolean
  /** Of CPU, at most. */
  spentMs: number
}

interface Compared {
  differing: Differing[]
  statements: { recounted: string; answered: string }
}

/** Undefined: the day cannot be compared now, because events came for it or it is not rolled up any more. */
export async function visitDay(
  stores: Stores,
  siteId: string,
  day: string,
  options: VisitOptions,
): Promise<Visit | undefined> {
  const { postgres } = stores
  const { now, signal, settleMs = defaultSettleMs, onDifference } = options
  // Of replicas, one that has all rows: the others may answer a moment before they do.
  const clickhouse = (await stores.clickhouse.replicas?.worker()) ?? stores.clickhouse
  const reader = meter(clickhouse, signal)
  const open = await openDifferences(postgres, siteId, day)
  const state = await rolledUpState(stores, siteId, day)
  // Then answers come from the events themselves.
  if (!state) await noteRepaired(postgres, open)
  // The site may have got a time zone in which the day is not over.
  if (!state || dayOf(state.site.timeZone, now()) <= day) return undefined
  const siteDay = siteDayOf(state.site, day)

  const [firstVisit, ...others] = await reader.rows<Required<Filters>>(someVisits(siteDay, filtersPerVisit))
  if (!firstVisit) return { answers: 0, differences: 0, isEmpty: true, spentMs: reader.spentMs() }

  const suspects: Question[] = []
  let answers = 0
  const core = [...coreQuestions, ...open.map((one) => one.question)]
  for (const questions of [core, ...furtherQuestions([firstVisit, ...others].map(randomFilters))]) {
    if (answers > 0 && reader.spentMs() > enoughMs) break
    const compared = await compareAll(reader, state.site, day, questions, options)
    suspects.push(...questions.filter((_, index) => (compared[index]?.length ?? 0) > 0))
    answers += compared.filter((one) => one !== undefined).length
  }
  const visit = (differences: number, spentMs = 0): Visit => ({
    ...{ answers, differences, isEmpty: false },
    spentMs: reader.spentMs() + spentMs,
  })

  const found = new Map<string, Difference>()
  let isNew = 0
  if (suspects.length > 0) await sleep(settleMs, undefined, { signal })
  for (const question of suspects) {
    const request = requestOf(question, day)
    if (found.has(request)) continue
    const asked = { siteId, day, version: state.version, question }
    const confirmed = await compareAtOneInstant(stores, reader, asked, options)
    if (!confirmed) return undefined
    if (confirmed.differing.length === 0) continue
    const known = open.find((one) => one.request === request)
    found.set(request, known ?? (await noteDifference(postgres, { siteId, day, question, request, ...confirmed })))
    if (!known) isNew++
  }
  await noteRepaired(
    postgres,
    open.filter(({ request }) => !found.has(request)),
  )
  if (found.size === 0) return visit(0)
  for (const difference of found.values()) onDifference?.(state.site, day, difference)

  const before = performance.now()
  await rebuildDay(stores, siteId, day)
  const rebuiltMs = threadsOfRebuild * (performance.now() - before)
  const rebuilt = await rolledUpState(stores, siteId, day)
  const repaired: Difference[] = []
  for (const difference of rebuilt ? found.values() : []) {
    const [again] = await compareAll(reader, (rebuilt as State).site, day, [difference.question], options)
    if (again?.length === 0) repaired.push(difference)
  }
  await noteRepaired(postgres, repaired)
  return visit(isNew, rebuiltMs)
}

interface State {
  site: Site
  /** Of the rollups that are read for the day. */
  version: number
}

/** Undefined: the day is read from events. */
async function rolledUpState({ postgres }: Stores, siteId: string, day: string): Promise<State | undefined> {
  const [row] = await selectSite(postgres, siteId)
  const site = row && siteOf(row)
  const version = site?.coverage.versions.find(({ days }) => intersect([[day, day]], days).length > 0)
  return site && version && { site, version: version.version }
}

const siteDayOf = ({ id, excludedCountries }: Site, day: string): SiteDay => ({ siteId: id, day, excludedCountries })

/** For each question, the rows that differ; undefined if its answer is too long to compare. */
async function compareAll(
  reader: Meter,
  site: Site,
  day: string,
  questions: readonly Question[],
  { now, signal }: VisitOptions,
): Promise<(Differing[] | undefined)[]> {
  const recounted = await recount(reader, siteDayOf(site, day), questions)
  const found: (Differing[] | undefined)[] = []
  for (const [index, question] of questions.entries()) {
    if (isTooLong(question, recounted[index] as Answer)) {
      found.push(undefined)
      continue
    }
    const answered = await askService({ of: () => reader }, site, day, question, { now: now(), signal })
    found.push(differing(recounted[index] as Answer, answered))
  }
  return found
}

/**
 * Counts the events before and after the answer. If both counts are the same, and the day is still read from the rollups that were compared first,
 * then no event came in between, and the answer is compared with the events of its own instant. Undefined: some came.
 */
async function compareAtOneInstant(
  stores: Stores,
  reader: Meter,
  { siteId, day, version, question }: { siteId: string; day: string; version: number; question: Question },
  options: VisitOptions,
): Promise<Compared | undefined> {
  const isUnchanged = (state: State | undefined): state is State => state?.version === version
  const before = await rolledUpState(stores, siteId, day)
  if (!isUnchanged(before)) return undefined
  const { now, signal } = options
  const siteDay = siteDayOf(before.site, day)
  reader.takeStatements()
  const [recounted] = (await recount(reader, siteDay, [question])) as [Answer]
  const ofRecount = reader.takeStatements()
  const answered = await askService({ of: () => reader }, before.site, day, question, { now: now(), signal })
  const ofAnswer = reader.takeStatements()
  const [after] = (await recount(reader, siteDay, [question])) as [Answer]
  const isSettled = differing(recounted, after).length === 0
  if (!isSettled || !isUnchanged(await rolledUpState(stores, siteId, day))) return undefined
  return { differing: differing(recounted, answered), statements: { recounted: ofRecount, answered: ofAnswer } }
}
