import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { showBuildInfo } from '../process/build-info.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** PostgreSQL is asked at most once in this time, however often the metrics are scraped. */
const readEveryMs = 30_000

/** What PostgreSQL knows about the whole installation. */
export interface InstallationState {
  rollupLagSeconds: number
  /** By the name of the disk. */
  freeDisk: Record<string, number>
  /** Undefined: nothing was recounted yet. */
  recounted: { answers: number; differences: number; open: number } | undefined
}

/** The metrics that /metrics shows. Labels are our own names (routes, dependencies); a request can never choose one. */
export function createMetrics(readState?: () => Promise<InstallationState>) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'footfall_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response.',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const up = new Gauge({
    name: 'footfall_dependency_up',
    help: '1 while a dependency works, 0 while it does not.',
    labelNames: ['dependency'],
    registers: [registry],
  })
  const degraded = new Counter({
    name: 'footfall_ratelimit_degraded_total',
    help: 'Requests that this process counted alone because Redis did not answer.',
    registers: [registry],
  })
  const calls = new Counter({
    name: 'footfall_mcp_calls_total',
    help: 'Calls of MCP tools; refused is an answer that says what to send instead.',
    labelNames: ['tool', 'outcome'],
    registers: [registry],
  })
  showBuildInfo(registry)
  const freeDisk = new Gauge({
    name: 'footfall_disk_free_ratio',
    help: 'Share of a disk that is free: of each shard of ClickHouse, and of the spool.',
    labelNames: ['disk'],
    registers: [registry],
    collect: readOnce,
  })
  const rollupLag = new Gauge({
    name: 'footfall_rollup_lag_seconds',
    help: 'Seconds since the oldest day that still needs a rollup closed; 0 when none does.',
    registers: [registry],
    collect: readOnce,
  })
  const recounted = new Counter({
    name: 'footfall_recounted_answers_total',
    help: 'Answers that were recounted from single events.',
    registers: [registry],
    collect: readOnce,
  })
  const differences = new Counter({
    name: 'footfall_recount_differences_total',
    help: 'Recounted answers that differed from the events.',
    registers: [registry],
    collect: readOnce,
  })
  const openDifferences = new Gauge({
    name: 'footfall_recount_differences_open',
    help: 'Differences that rolling up the day again has not repaired.',
    registers: [registry],
    collect: readOnce,
  })
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  function readOnce(): Promise<void> | undefined {
    if (performance.now() - readAt < readEveryMs) return reading
    readAt = performance.now()
    // While PostgreSQL is down, the last values stay; footfall_dependency_up shows the reason.
    reading = readState?.().then(
      (state) => {
        rollupLag.set(state.rollupLagSeconds)
        const { answers, differences: found, open } = state.recounted ?? { answers: 0, differences: 0, open: 0 }
        setTo(recounted, answers)
        setTo(differences, found)
        openDifferences.set(open)
        for (const [disk, share] of Object.entries(state.freeDisk)) freeDisk.set({ disk }, share)
      },
      () => {},
    )
    return reading
  }
  // Cached by route and status, because finding a histogram by its labels takes as long as observing a value.
  const answers = new Map<string, Histogram.Internal<'route' | 'status'>[]>()

  function answersOf(route: string, status: number): Histogram.Internal<'route' | 'status'> {
    const byStatus = answers.get(route) ?? []
    answers.set(route, byStatus)
    byStatus[status] ??= seconds.labels({ route, status })
    return byStatus[status]
  }

  return {
    registry,
    answered: (route: string, status: number, milliseconds: number) =>
      answersOf(route, status).observe(milliseconds / 1000),
    dependency: (name: string, isUp: boolean) => up.set({ dependency: name }, isUp ? 1 : 0),
    countedLocally: () => degraded.inc(),
    toolCalled: (tool: string, outcome: string) => calls.inc({ tool, outcome }),
  }
}

/** PostgreSQL counts for all processes, so a restart does not begin again. */
function setTo(counter: Counter, value: number): void {
  counter.reset()
  counter.inc(value)
}
