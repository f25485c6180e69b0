import type { TrafficEvent } from '../../traffic/event.ts'

/** One line of the spool, as JSON: an event that the collector has accepted and ClickHouse has not confirmed yet. */
export interface SpooledEvent {
  event: TrafficEvent
  /** The client gave the event an id, so the client may send it again. */
  isRepeatable: boolean
}
