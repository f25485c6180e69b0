// Builds one API on stores that are already open. Production and tests use the same assembly.
import type { FastifyInstance } from 'fastify'
import { type Directory, type DirectoryOptions, openDirectory } from '../accounts/directory.ts'
import { findDroppedEvent } from '../accounts/dropped-events.ts'
import { recordLastUse } from '../accounts/last-use.ts'
import { createStatsService, type StatsService, type StatsServiceOptions } from '../stats/service.ts'
import { deadlineFactor, within } from '../stores/deadline.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type ApiServices, buildApp } from './app.ts'

const postgresMs = 250 * deadlineFactor

export interface ApiOptions
  extends StatsServiceOptions,
    Pick<ApiServices, 'limiter' | 'log' | 'metrics' | 'isEnding' | 'sharedPort' | 'mcpOrigins' | 'findInSpool'> {
  postgres: Postgres
  directory: DirectoryOptions
  /** Interval at which the last use and the request counts of keys are written. */
  lastUseMs?: number | undefined
}

export interface Api {
  app: FastifyInstance
  directory: Directory
  stats: StatsService
  close(): Promise<void>
}

export function assembleApi(options: ApiOptions): Api {
  const { postgres, cluster, now, cacheBytes, limiter, log, metrics, isEnding, sharedPort, mcpOrigins } = options
  const directory = openDirectory(postgres, options.directory)
  const lastUse = recordLastUse(postgres, options.lastUseMs)
  const stats = createStatsService({ cluster, now, cacheBytes })
  const findDropped: ApiServices['findDropped'] = (siteId, eventId) =>
    within(postgresMs, 'PostgreSQL', findDroppedEvent(postgres, siteId, eventId))
  const services = { stats, directory, limiter, lastUse, now, log, metrics, isEnding, sharedPort, mcpOrigins }
  const app = buildApp({ ...services, findDropped, findInSpool: options.findInSpool })
  return {
    app,
    directory,
    stats,
    async close() {
      await app.close()
      await lastUse.close()
      await directory.close()
    },
  }
}
