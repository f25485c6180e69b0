import { statfsSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { showBuildInfo } from '../process/build-info.ts'
import { type DropReason, dropReasons } from '../traffic/drop-reasons.ts'
import { type ClosingReason, closingReasons } from './http/connections.ts'
import { type RefusalCode, refusals } from './http/refusals.ts'
import { type LimitedColumn, limitedColumns } from './intake/value-limits.ts'

/** The metrics at the collector's /metrics. No request can choose the value of a label. */
export function createCollectorMetrics(spoolSettings: { folder: string; maxBytes: number }) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  showBuildInfo(registry)
  // Counted in plain numbers and copied when /metrics is read: a labelled counter costs 2 us per event.
  const answered = new Map<number, number>()
  let acceptedEvents = 0
  new Counter({
    name: 'footfall_collector_answers_total',
    help: 'Requests by response status.',
    labelNames: ['status'],
    registers,
    collect() {
      this.reset()
      for (const [status, count] of answered) this.inc({ status }, count)
    },
  })
  new Counter({
    name: 'footfall_events_accepted_total',
    help: 'Events stored on disk and acknowledged.',
    registers,
    collect() {
      this.reset()
      this.inc(acceptedEvents)
    },
  })
  const dropped = new Counter({
    name: 'footfall_events_dropped_total',
    help: 'Events that were dropped, by reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of [...dropReasons, 'deleted_site']) dropped.inc({ reason }, 0)
  const replacedValues = new Map<LimitedColumn, number>(limitedColumns.map((column) => [column, 0]))
  new Counter({
    name: 'footfall_values_replaced_total',
    help: 'Values recorded as (other): paths, host names and names of events; referrers and sources of sessions.',
    labelNames: ['value'],
    registers,
    collect() {
      this.reset()
      for (const [value, count] of replacedValues) this.inc({ value }, count)
    },
  })
  const remembered = new Gauge({
    name: 'footfall_values_remembered',
    help: 'Values in memory of busy sites, whose number of new values per day is limited.',
    registers,
  })
  const refused = new Counter({
    name: 'footfall_collector_refused_total',
    help: 'Requests that were refused as a whole, by error code.',
    labelNames: ['code'],
    registers,
  })
  for (const code of Object.keys(refusals)) refused.inc({ code }, 0)
  const closed = new Counter({
    name: 'footfall_connections_closed_total',
    help: 'Connections closed because there were too many, from one address or in total.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of closingReasons) closed.inc({ reason }, 0)
  const up = new Gauge({
    name: 'footfall_dependency_up',
    help: '1 while a dependency works, 0 while it does not.',
    labelNames: ['dependency'],
    registers,
  })
  const group = new Histogram({
    name: 'footfall_spool_group_events',
    help: 'Events stored in one commit of the spool.',
    buckets: [1, 3, 10, 30, 100, 300, 1000, 3000],
    registers,
  })
  const commit = new Histogram({
    name: 'footfall_spool_commit_seconds',
    help: 'Duration of one commit of the spool.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  })
  const spool = new Gauge({ name: 'footfall_spool_bytes', help: 'Size of the spool on disk.', registers })
  new Gauge({
    name: 'footfall_spool_max_bytes',
    help: 'SPOOL_MAX_BYTES: above 85 % of it the collector answers 503.',
    registers,
  }).set(spoolSettings.maxBytes)
  new Gauge({
    name: 'footfall_disk_free_ratio',
    help: 'Share of a disk that is free: of each shard of ClickHouse, and of the spool.',
    labelNames: ['disk'],
    registers,
    collect() {
      try {
        const { bavail, blocks } = statfsSync(spoolSettings.folder)
        this.set({ disk: 'spool' }, bavail / Math.max(blocks, 1))
      } catch {
        this.set({ disk: 'spool' }, 0) // a folder that is gone has no room either
      }
    },
  })
  const shipped = new Counter({
    name: 'footfall_events_shipped_total',
    help: 'Events confirmed by ClickHouse.',
    registers,
  })
  const repeated = new Counter({
    name: 'footfall_events_repeated_total',
    help: 'Events left out because their id was shipped before.',
    registers,
  })
  const tooOld = new Counter({
    name: 'footfall_events_too_old_total',
    help: 'Events left out because events of their day are no longer kept.',
    registers,
  })
  let oldest: number | undefined
  new Gauge({
    name: 'footfall_shipping_lag_seconds',
    help: 'Age of the oldest acknowledged event that ClickHouse does not have yet; 0 if there is none.',
    registers,
    collect() {
      this.set(oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest) / 1000))
    },
  })
  const dead = new Gauge({
    name: 'footfall_dead_letters',
    help: 'Events that ClickHouse refused, in dead-letters.sqlite.',
    registers,
  })
  return {
    registry,
    answered(status: number) {
      answered.set(status, (answered.get(status) ?? 0) + 1)
    },
    accepted(events: number) {
      acceptedEvents += events
    },
    dropped: (reason: DropReason) => dropped.inc({ reason }),
    replaced(column: LimitedColumn) {
      replacedValues.set(column, (replacedValues.get(column) ?? 0) + 1)
    },
    remembered: (count: number) => remembered.set(count),
    refused: (code: RefusalCode) => refused.inc({ code }),
    closed: (reason: ClosingReason) => closed.inc({ reason }),
    dependency: (name: string, isUp: boolean) => up.set({ dependency: name }, isUp ? 1 : 0),
    stored(events: number, milliseconds: number) {
      group.observe(events)
      commit.observe(milliseconds / 1000)
    },
    spoolMeasured(measures: { bytes: number; oldest: number | undefined }) {
      spool.set(measures.bytes)
      oldest = measures.oldest
    },
    orphaned: (events: number) => dropped.inc({ reason: 'deleted_site' }, events),
    shipped(news: { events: number; repeated: number; tooOld: number; deadLetters: number }) {
      shipped.inc(news.events)
      repeated.inc(news.repeated)
      tooOld.inc(news.tooOld)
      dead.set(news.deadLetters)
    },
  }
}
