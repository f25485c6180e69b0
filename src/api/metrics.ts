import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { showBuildInfo } from '../process/build-info.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** The ledger is read at most this often, however often somebody scrapes. */
const lagEveryMs = 30_000

/** What /metrics shows. Labels are names of our own (routes, dependencies), never anything a request could choose. */
export function createMetrics(readFoldLag: () => Promise<number> = async () => 0) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'footfall_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
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
    help: 'Requests counted by this process alone because Redis did not answer.',
    registers: [registry],
  })
  showBuildInfo(registry)
  let lagReadAt = Number.NEGATIVE_INFINITY
  new Gauge({
    name: 'footfall_rollup_lag_seconds',
    help: 'How long ago the first day closed that is not folded yet; 0 when nothing is due.',
    registers: [registry],
    async collect() {
      if (performance.now() - lagReadAt < lagEveryMs) return
      lagReadAt = performance.now()
      // Without PostgreSQL the last value stays: footfall_dependency_up says why.
      await readFoldLag().then(
        (seconds) => this.set(seconds),
        () => {},
      )
    },
  })
  // Finding the bucket of a route and status by its labels costs as much as counting in it.
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
  }
}
