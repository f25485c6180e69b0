// Stores of the check's own that may be killed and stopped: the shared ones stay healthy.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startClickHouse } from '../../../dev/clickhouse/server.ts'
import { migrate } from '../../../src/stores/migrate.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { startOwnPostgres } from '../../support/own-servers.ts'
import { connect, disconnect, redisUrl, type Stores } from '../../support/stores.ts'

export interface BreakableStores extends Stores {
  /** kill -9, so long without an engine, and the same data on the same port again. */
  killClickHouse(downMs: number): Promise<void>
  /** SIGSTOP and SIGCONT: connections are accepted and nothing is answered. */
  stopClickHouse(downMs: number): Promise<void>
  stopPostgres(downMs: number): Promise<void>
  remove(): Promise<void>
}

export async function openBreakableStores(): Promise<BreakableStores> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-tenant-'))
  const port = await freePort()
  const postgres = await startOwnPostgres()
  let engine = await startClickHouse({ folder, port })
  await untilItAnswers(postgres.url)
  const stores = connect({ postgres: postgres.url, clickhouse: engine.url, redis: redisUrl, redisPrefix: 'tenant:' })
  await migrate(stores)
  return {
    ...stores,
    async killClickHouse(downMs) {
      await engine.kill()
      await pause(downMs)
      engine = await startClickHouse({ folder, port })
    },
    async stopClickHouse(downMs) {
      process.kill(engine.pid, 'SIGSTOP')
      await pause(downMs)
      process.kill(engine.pid, 'SIGCONT')
    },
    async stopPostgres(downMs) {
      postgres.signal('SIGSTOP')
      await pause(downMs)
      postgres.signal('SIGCONT')
    },
    async remove() {
      await disconnect(stores)
      await Promise.all([engine.kill(), postgres.remove()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** It listens before it is ready to be asked. */
async function untilItAnswers(url: string): Promise<void> {
  const postgres = openPostgres(url)
  for (let attempt = 0; ; attempt++) {
    try {
      await postgres`SELECT 1`
      return await postgres.end()
    } catch (error) {
      if (attempt > 100) throw error
      await pause(50)
    }
  }
}

export const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
