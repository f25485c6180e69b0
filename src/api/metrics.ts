import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { showBuildInfo } from '../process/build-info.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** The rollup lag is read at most once in this time, however often the metrics are scraped. */
const lagEveryMs = 30_000

/** The metrics that /metrics shows. Labels are our own names (routes, dependencies); a request can never choose one. */
export function createMetrics(readRollupLag: () => Promise<number> = async () => 0) {
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
    help: '1 while a dependency answers, 0 while it does not.',
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
  let lagReadAt = Number.NEGATIVE_INFINITY
  new Gauge({
    name: 'footfall_rollup_lag_seconds',
    help: 'Seconds since the oldest day that still needs a rollup closed; 0 when none does.',
    registers: [registry],
    async collect() {
      if (performance.now() - lagReadAt < lagEveryMs) return
      lagReadAt = performance.now()
      // While PostgreSQL is down, the last value stays; footfall_dependency_up shows the reason.
      await readRollupLag().then(
        (seconds) => this.set(seconds),
        () => {},
      )
    },
  })
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
