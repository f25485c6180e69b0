// Separate stores that the check may kill and stop. The shared ones stay healthy.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startClickHouse } from '../../../dev/clickhouse/server.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'
import { startOwnPostgres } from '../../support/own-servers.ts'
import { connect, disconnect, redisUrl, type Stores } from '../../support/stores.ts'

export interface BreakableStores extends Stores {
  /** Sends SIGKILL, waits that long, and starts it again with the same data and port. */
  killClickHouse(downMs: number): Promise<void>
  /** Sends SIGSTOP and SIGCONT: in between, connections are accepted but get no response. */
  stopClickHouse(downMs: number): Promise<void>
  stopPostgres(downMs: number): Promise<void>
  remove(): Promise<void>
}

export async function openBreakableStores(): Promise<BreakableStores> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-tenant-'))
  const port = await freePort()
  const postgres = await startOwnPostgres()
  let clickhouseServer = await startClickHouse({ folder, port })
  await untilItAnswers(postgres.url)
  const stores = connect({
    postgres: postgres.url,
    clickhouse: clickhouseServer.url,
    redis: redisUrl,
    redisPrefix: 'tenant:',
  })
  await migrate(stores)
  return {
    ...stores,
    async killClickHouse(downMs) {
      await clickhouseServer.kill()
      await pause(downMs)
      clickhouseServer = await startClickHouse({ folder, port })
    },
    async stopClickHouse(downMs) {
      process.kill(clickhouseServer.pid, 'SIGSTOP')
      await pause(downMs)
      process.kill(clickhouseServer.pid, 'SIGCONT')
    },
    async stopPostgres(downMs) {
      postgres.signal('SIGSTOP')
      await pause(downMs)
      postgres.signal('SIGCONT')
    },
    async remove() {
      await disconnect(stores)
      await Promise.all([clickhouseServer.kill(), postgres.remove()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** It listens before it accepts queries. */
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
