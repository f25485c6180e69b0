// Where an event is, for somebody who sent it and knows its id (decision D-248).
import Type, { type Static } from 'typebox'
import { type DayRange, dayAfter, dayBefore, dayOf } from '../calendar/days.ts'
import { hourMs } from '../durations.ts'
import type { StoredEvent } from '../stats/stored-event.ts'
import { type DropReason, dropMessages, dropReasons } from '../traffic/drop-reasons.ts'

const states = ['counted', 'excluded', 'dropped', 'refused', 'spooled', 'shipped', 'unknown'] as const

const orNull = (description: string, format?: 'date' | 'date-time') =>
  Type.Union([Type.String(format && { format }), Type.Null()], { description })
const ifStored = 'null unless it is `counted` or `excluded`.'

export const whereaboutsShape = Type.Object({
  id: Type.String({ description: 'The id that was asked for, in lower case.' }),
  state: Type.String({
    enum: [...states],
    description:
      '`counted`; `excluded`: it is stored, but the site leaves out its country; `dropped`: it was not counted; `refused`: ClickHouse did not take its content; `spooled`: it waits on the disk of the collector; `shipped`: ClickHouse has confirmed it, but does not show it yet; `unknown`: it is in none of the places that were looked at.',
  }),
  message: Type.String({ description: 'The same as a sentence, and what to do.' }),
  day: orNull(`The day that it is counted on, in the time zone of the site; ${ifStored}`, 'date'),
  time: orNull('When it reached Footfall, in UTC; null if that is not known.', 'date-time'),
  event: orNull(`\`pageview\`, or the name of a custom event; ${ifStored}`),
  page: orNull(`Path of the page; ${ifStored}`),
  hostname: orNull('Host of the page; of a dropped event only if the host is the reason.'),
  reason: Type.Union([Type.String({ enum: [...dropReasons] }), Type.Null()], {
    description: 'Why it was dropped; null if it was not.',
  }),
  session: Type.Union(
    [
      Type.Object({
        began: Type.String({ format: 'date-time', description: 'When the session of the event began, in UTC.' }),
        channel: Type.String({ description: 'Channel of the session.' }),
        referrer: orNull('Host that the session came from.'),
        utm_source: orNull('UTM source of the session.'),
      }),
      Type.Null(),
    ],
    { description: `The session that it belongs to, and its source; ${ifStored}` },
  ),
  looked_at: Type.Object(
    {
      first_day: Type.String({ format: 'date', description: 'The first day whose events were looked at.' }),
      last_day: Type.String({ format: 'date', description: 'The last day whose events were looked at.' }),
      spool: Type.String({
        enum: ['whole', 'newest', 'none'],
        description:
          'Whether the disk of a collector was looked at: all of it, its newest events, or nothing, because the collector runs on another machine.',
      }),
    },
    { description: 'Where it was looked for, besides the dropped events of the last 24 hours.' },
  ),
})

export type Whereabouts = Static<typeof whereaboutsShape>

/** What the spool of a collector says. */
export interface SpoolFinding {
  state: 'spooled' | 'shipped' | 'refused' | 'nothing'
  /** Whether all of it was looked at. */
  isWhole: boolean
}

interface Dropped {
  at: number
  reason: string
  hostname: string
}

/** Where to look. A place that was not asked before is not asked once the event is found. */
export interface Places {
  stored(days: DayRange): Promise<StoredEvent | undefined>
  dropped(): Promise<Dropped | undefined>
  /** It returns undefined if no collector has used the folder. Undefined: no collector runs on this machine. */
  spool?: (() => SpoolFinding | undefined) | undefined
}

interface AskedSite {
  timeZone: string
  excludedCountries: readonly string[]
}

const lastHours = 48
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isEventId = (text: string): boolean => uuid.test(text)

/** The days on which an event of the last 48 hours can be, whatever the time zone of the site was then. */
const recentDays = (timeZone: string, now: number): DayRange => [
  dayBefore(dayOf(timeZone, now - lastHours * hourMs)),
  dayAfter(dayOf(timeZone, now)),
]

export async function whereIs(
  id: string,
  site: AskedSite,
  places: Places,
  { day, now }: { day: string | undefined; now: number },
): Promise<Whereabouts> {
  const days: DayRange = day === undefined ? recentDays(site.timeZone, now) : [day, day]
  // While ClickHouse is down, events wait on the disk of the collector, and are found there.
  let failure: unknown
  const stored = await places.stored(days).catch((error) => {
    failure = error
    return undefined
  })
  const dropped = stored ? undefined : await places.dropped()
  const spooled = stored || dropped ? undefined : places.spool?.()
  if (failure && !dropped && spooled?.state !== 'spooled') throw failure
  const nowhere: Whereabouts = {
    ...{ id, state: 'unknown', message: '', day: null, time: null, event: null, page: null, hostname: null },
    ...{ reason: null, session: null },
    looked_at: {
      first_day: days[0],
      last_day: days[1],
      spool: spooled ? (spooled.isWhole ? 'whole' : 'newest') : 'none',
    },
  }
  const found: Whereabouts = stored
    ? { ...nowhere, ...recordOf(stored, site) }
    : dropped
      ? {
          ...nowhere,
          state: 'dropped',
          time: iso(dropped.at),
          reason: dropped.reason as DropReason,
          hostname: dropped.hostname || null,
        }
      : { ...nowhere, state: spooled && spooled.state !== 'nothing' ? spooled.state : 'unknown' }
  return { ...found, message: messageOf(found, site) }
}

function recordOf(stored: StoredEvent, { excludedCountries }: AskedSite): Partial<Whereabouts> {
  const { day, at, name, hostname, pathname, country, referrer, channel, utmSource, sessionBegan } = stored
  return {
    ...{ state: excludedCountries.includes(country) ? 'excluded' : 'counted', day, time: iso(at), event: name },
    ...{ page: pathname, hostname },
    session: { began: iso(sessionBegan), channel, referrer: referrer || null, utm_source: utmSource || null },
  }
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString()

function messageOf({ state, day, reason, session, looked_at }: Whereabouts, { timeZone }: AskedSite): string {
  switch (state) {
    case 'counted': {
      const source = session?.utm_source ?? session?.referrer
      return `Counted on ${day} (${timeZone}), in the session that began at ${session?.began} with the source ${source ?? 'none'}, channel ${session?.channel}.`
    }
    case 'excluded':
      return `Stored on ${day} (${timeZone}), but in no number: the settings of the site leave out its country.`
    case 'dropped':
      return `Not counted: ${dropMessages[reason as DropReason] ?? reason}.`
    case 'refused':
      return 'ClickHouse refused its content. It is in dead-letters.sqlite of the spool, with the cause.'
    case 'spooled':
      return 'Accepted, and on the disk of the collector. It is counted when ClickHouse has it: in seconds, or after an outage.'
    case 'shipped':
      return 'Shipped in the last hour, but not found on these days. It was left out because its day is no longer kept or its site is deleted, or another server of ClickHouse shows it first: ask again in a minute.'
    default:
      return `Not found on ${looked_at.first_day} to ${looked_at.last_day}, nor among the events that were dropped in the last 24 hours. ${
        looked_at.spool === 'whole'
          ? 'Nor is it in the spool of this machine. If other collectors run, one of them may have it.'
          : 'During an outage it may wait in the spool of a collector: footfall event find on that machine looks there.'
      } Otherwise it never arrived, or came without this id. For an earlier event, name its day.`
  }
}
