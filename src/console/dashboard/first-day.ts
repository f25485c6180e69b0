// The first day of a site's traffic: all time begins with it, and nothing before it can be compared with.
import { unionOf } from '../../rollups/imported-days.ts'
import { firstEventDay } from '../../traffic/first-event.ts'
import type { ConsoleServices } from '../route.ts'
import { asking, type Moment, momentOf } from './answers.ts'
import { type DashboardContext, type DashboardState, defaultState } from './state.ts'

/** The first day, if it is later than the first one that is compared. */
export async function lateFirstDay(
  services: ConsoleServices,
  queueKey: string,
  state: DashboardState,
  { periods: { compared } }: Moment,
  signal: AbortSignal,
): Promise<Temporal.PlainDate | undefined> {
  if (!compared) return undefined
  // A month of rolled-up days has events: no question is needed to know that there were some before.
  const rolledUp = firstRolledUp(state)
  const isSurelyLater =
    rolledUp !== undefined &&
    state.locked.length === 0 &&
    Temporal.PlainDate.compare(Temporal.PlainDate.from(rolledUp).add({ months: 1 }), compared.firstDay) <= 0
  if (isSurelyLater) return undefined
  const first = await firstDayOf(services, queueKey, state, signal)
  return first && Temporal.PlainDate.compare(compared.firstDay, first) < 0 ? first : undefined
}

const firstRolledUp = ({ site }: DashboardContext): string | undefined =>
  site.coverage.versions.flatMap(({ days }) => days.map(([first]) => first)).toSorted()[0]

/**
 * Undefined if there is none, or it cannot be read now: then the other questions of the page say so. Behind a link with filters it is the first
 * day that they show, because nobody may learn of visitors that they hide.
 */
export async function firstDayOf(
  services: ConsoleServices,
  queueKey: string,
  context: DashboardContext,
  signal: AbortSignal,
): Promise<Temporal.PlainDate | undefined> {
  const { site, locked } = context
  const [imported] = unionOf(site.coverage.imported.flatMap(({ days }) => days)).flat()
  const own = await firstOwnDay(services, queueKey, context, signal)
  // Imported days show nothing behind a link with filters.
  if (imported === undefined || locked.length > 0 || (own && String(own) < imported)) return own
  return Temporal.PlainDate.from(imported)
}

async function firstOwnDay(
  services: ConsoleServices,
  queueKey: string,
  context: DashboardContext,
  signal: AbortSignal,
): Promise<Temporal.PlainDate | undefined> {
  const { site, locked } = context
  const rolledUp = firstRolledUp(context)
  const stored = await firstEventDay(services.cluster.of(site), site.id, signal).catch(() => undefined)
  const isStored = rolledUp === undefined || rolledUp >= site.coverage.eventsFrom
  if (stored !== undefined && isStored && locked.length === 0) return Temporal.PlainDate.from(stored)
  const [earliest] = [stored, rolledUp].filter((day) => day !== undefined).toSorted()
  if (earliest === undefined) return undefined
  const usual = defaultState(context)
  const { local } = momentOf(usual, services.now())
  const firstDay = Temporal.PlainDate.from(earliest)
  const range = { name: 'custom', firstDay, lastDay: local.toPlainDate() } as const
  const state = { ...usual, range, compare: undefined }
  // Rolled-up days begin with the month of the first event, so the earliest one may be empty.
  const ask = asking(services, queueKey, state, momentOf(state, services.now()), signal)
  const days = await ask.ask<{ date: string; visitors: number }[]>('timeseries', [['metrics', 'visitors']])
  const found = 'value' in days ? days.value.find(({ visitors }) => visitors > 0) : undefined
  return found && Temporal.PlainDate.from(found.date)
}
