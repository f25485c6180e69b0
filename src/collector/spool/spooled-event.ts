import type { TrafficEvent } from '../../traffic/event.ts'

/** One line of the spool, as JSON: an event that the collector has accepted and ClickHouse has not confirmed yet. */
export interface SpooledLine {
  event: TrafficEvent
  /** The client gave the event an id, so the client may send it again. */
  isRepeatable: boolean
}

export interface SpooledEvent extends SpooledLine {
  /** The shard of its site. The spool stores it beside the lines. */
  shard: number
}
