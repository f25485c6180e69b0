// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of following a single event. */
export const tracing: readonly Mutation[] = [
  {
    name: 'event: a key finds dropped events of other sites',
    file: 'src/accounts/dropped-events.ts',
    find: 'WHERE site_id = ${siteId} AND event_id = ${eventId}',
    replace: 'WHERE ${siteId} = ${siteId} AND event_id = ${eventId}',
    caughtBy: 'test/api/events.test.ts',
  },
  {
    name: 'event: a key finds stored events of other sites',
    file: 'src/stats/stored-event.ts',
    find: 'WHERE site_id = ${text(siteId)} AND day = ${date(day)} AND event_id',
    replace: "WHERE site_id != '' AND ${text(siteId)} = ${text(siteId)} AND day = ${date(day)} AND event_id",
    caughtBy: 'test/api/events.test.ts',
  },
  {
    name: 'event: the session of the event begins with the event',
    file: 'src/stats/stored-event.ts',
    find: 'begin?.at ?? event.at',
    replace: 'event.at',
    caughtBy: 'test/api/events.test.ts',
  },
  {
    name: 'event: dropped events stay for ever',
    file: 'src/accounts/dropped-events.ts',
    find: 'DELETE FROM dropped_events WHERE dropped_at < now()',
    replace: "DELETE FROM dropped_events WHERE reason = '' AND dropped_at < now()",
    caughtBy: 'test/api/events.test.ts',
  },
  {
    name: 'event: a flood of dropped events fills PostgreSQL',
    file: 'src/accounts/dropped-events.ts',
    find: 'OFFSET ${maxPerSite - 1} LIMIT 1',
    replace: 'OFFSET ${100 * maxPerSite} LIMIT 1',
    caughtBy: 'test/api/events.test.ts',
  },
  {
    name: 'event: hosts of pages are kept whatever the reason',
    file: 'src/collector/intake/intake.ts',
    find: "hostname: reason === 'hostname_not_allowed' ? hostname : ''",
    replace: 'hostname',
    caughtBy: 'test/collector/http/event-route.test.ts',
  },
  {
    name: 'event: bots are not noted',
    file: 'src/collector/intake/intake.ts',
    find: "if (reason === 'bot' && droppedEvents",
    replace: "if (reason === 'not_an_object' && droppedEvents",
    caughtBy: 'test/collector/http/event-route.test.ts',
  },
  {
    name: 'event: an event in the spool is not found while ClickHouse is down',
    file: 'src/tracing/whereabouts.ts',
    find: "if (failure && !dropped && spooled?.state !== 'spooled')",
    replace: 'if (failure)',
    caughtBy: 'test/tracing/whereabouts.test.ts',
  },
  {
    name: 'event: the spool of one site answers for another',
    file: 'src/collector/shipper/find-event.ts',
    find: 'return event.eventId === eventId && event.siteId === siteId',
    replace: "return event.eventId === eventId && siteId !== ''",
    caughtBy: 'test/collector/shipper/find-event.test.ts',
  },
]
