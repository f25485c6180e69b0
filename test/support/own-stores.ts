// Separate PostgreSQL, Redis and ClickHouse servers that a test may kill, stop and start again, and an operator's own connections
// around the broken part.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseServer, startClickHouse } from '../../dev/clickhouse/server.ts'
import { createClickHouseDatabase } from '../../src/stores/clickhouse.ts'
import { startOwnPostgres, startOwnRedis } from './own-servers.ts'

export interface OwnStore {
  url: string
  /** Sends SIGKILL. */
  kill(): Promise<void>
  /** Starts it again with the same port and data. */
  start(): Promise<void>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
}

export type StoreName = 'PostgreSQL' | 'Redis' | 'ClickHouse'

export interface OwnStores {
  /** By name, so that a test can iterate over them. */
  all: Record<StoreName, OwnStore>
  addresses: { postgres: string; clickhouse: string; redis: string }
  remove(): Promise<void>
}

export async function startOwnStores(): Promise<OwnStores> {
  const [postgres, redis, clickhouse] = await Promise.all([startOwnPostgres(), startOwnRedis(), startOwnClickHouse()])
  return {
    all: { PostgreSQL: postgres, Redis: redis, ClickHouse: clickhouse },
    addresses: { postgres: postgres.url, redis: redis.url, clickhouse: clickhouse.url },
    async remove() {
      await Promise.all([postgres.remove(), redis.remove(), clickhouse.remove()])
    },
  }
}

export async function startOwnClickHouse(): Promise<OwnStore & { remove(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-clickhouse-'))
  let clickhouseServer: ClickHouseServer = await startClickHouse({ folder })
  let isRunning = true
  const { port } = clickhouseServer
  const url = `${clickhouseServer.url}/footfall`
  await createClickHouseDatabase(url)
  const killAtExit = () => void (isRunning && process.kill(clickhouseServer.pid, 'SIGKILL'))
  process.once('exit', killAtExit)
  async function kill(): Promise<void> {
    if (!isRunning) return
    isRunning = false
    await clickhouseServer.kill()
  }
  return {
    url,
    kill,
    async start() {
      if (isRunning) return
      clickhouseServer = await startClickHouse({ folder, port })
      isRunning = true
    },
    signal: (name) => void (isRunning && process.kill(clickhouseServer.pid, name)),
    async remove() {
      await kill()
      process.off('exit', killAtExit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
