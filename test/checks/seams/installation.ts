// An installation whose databases can be set back to earlier moments: PostgreSQL and ClickHouse servers of its own, a spool, the shipper as
// its own process, and the API.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { assembleApi } from '../../../src/api/assembly.ts'
import { createMetrics } from '../../../src/api/metrics.ts'
import { memoryLimiter } from '../../../src/api/rate-limit.ts'
import { type Cluster, openCluster } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { spoolFilePath, spoolFiles } from '../../../src/collector/spool/files.ts'
import { openSpool, type Spool } from '../../../src/collector/spool/spool.ts'
import { refuseOlder } from '../../../src/rollups/ledger.ts'
import { createClickHouseDatabase, openClickHouse } from '../../../src/stores/clickhouse.ts'
import { createPostgresDatabase, type Postgres } from '../../../src/stores/postgres.ts'
import { openRequestPostgres } from '../../../src/stores/request-postgres.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { eventually } from '../../support/eventually.ts'
import { patientPostgres } from '../../support/fresh-stores.ts'
import { inherited } from '../../support/inherited.ts'
import { type OwnServer, startOwnPostgres } from '../../support/own-servers.ts'
import { keySecrets, newDatabaseName } from '../../support/stores.ts'
import { findServers, type Server, type Servers } from '../cluster/servers.ts'

const shipperMain = new URL('../../../src/collector/shipper/main.ts', import.meta.url).pathname
const footfallMain = new URL('../../../src/cli/main.ts', import.meta.url).pathname
const run = promisify(execFile)

/** More than a walk ever stores. */
const spoolBytes = 100_000_000

export interface WalkServers {
  postgres: OwnServer
  clickhouse: Servers
  remove(): Promise<void>
}

export async function startWalkServers(shards: number, kind: 'plain' | 'replicated'): Promise<WalkServers> {
  const [postgres, clickhouse] = await Promise.all([startOwnPostgres(), findServers(shards, kind)])
  return {
    postgres,
    clickhouse,
    async remove() {
      await Promise.all([postgres.remove(), clickhouse.remove()])
    },
  }
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>

export async function openInstallation(servers: WalkServers, now: number) {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-seams-'))
  const spoolFolder = join(folder, 'spool')
  /** Databases have a new name after `footfall restore`. */
  let name = newDatabaseName()
  const names = [name]
  let dumps = 0
  let postgres: Postgres
  let cluster: Cluster
  let api: Awaited<ReturnType<typeof startApi>>
  let shipper: ChildProcess | undefined
  let spool: Spool

  const postgresUrl = () => Object.assign(new URL(servers.postgres.url), { pathname: `/${name}` }).href
  const clickhouseUrls = () =>
    servers.clickhouse.addresses.map((urls) =>
      urls.map((url) => Object.assign(new URL(url), { pathname: `/${name}` }).href),
    )
  const environment = () => ({
    DATABASE_URL: postgresUrl(),
    CLICKHOUSE_SHARDS: JSON.stringify(clickhouseUrls()),
    KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
    SPOOL_FOLDER: spoolFolder,
  })

  async function createDatabases(): Promise<void> {
    await createPostgresDatabase(postgresUrl())
    for (const url of clickhouseUrls().flat()) await createClickHouseDatabase(url)
  }

  function connect(): void {
    postgres = patientPostgres(postgresUrl())
    cluster = openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: clickhouseUrls() })
  }

  /** What the API logged last, for whoever looks for the cause of a 500. */
  let lastError = ''
  const write = (line: string) => {
    lastError = line
  }
  const log = pino({ level: 'error' }, { write })

  async function startApi() {
    // Its own connections, as those of another process.
    const requestPostgres = openRequestPostgres(postgresUrl())
    const stores = {
      postgres: requestPostgres,
      cluster: openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: clickhouseUrls() }),
    }
    const assembled = assembleApi({
      ...stores,
      limiter: memoryLimiter(() => now),
      now: () => now,
      log,
      metrics: createMetrics(),
      directory: { secrets: keySecrets, queryMs: 1_000, refuseOlder: () => refuseOlder(stores) },
      cacheBytes: 0,
      isEnding: () => false,
      mcpOrigins: [],
    })
    await assembled.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = assembled.app.server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      async close() {
        assembled.app.server.closeAllConnections()
        await assembled.close()
        await Promise.all([requestPostgres.close(), stores.cluster.close()])
      },
    }
  }

  function startShipper(): void {
    shipper = spawn(process.execPath, [shipperMain], {
      env: { ...inherited, ...environment() },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
  }

  async function killShipper(): Promise<void> {
    if (!shipper || shipper.exitCode !== null || shipper.signalCode !== null) return
    const ended = once(shipper, 'exit')
    shipper.kill('SIGKILL')
    await ended
  }

  const openOwnSpool = async (maxBytes: number) => {
    spool = await openSpool({ folder: spoolFolder, maxBytes })
  }

  /** PostgreSQL lets nobody into a database that it drops. */
  const admin = (statement: string) =>
    run('psql', [servers.postgres.url, '-v', 'ON_ERROR_STOP=1', '-qc', statement]).then(() => {})

  await createDatabases()
  connect()
  await migrate({ postgres: postgres!, cluster: cluster! })
  const accountId = await createAccount(postgres!, { name: 'Seams', plan: 'Agency' })
  const accountKey = (await createKey(postgres!, keySecrets, { accountId, name: 'All sites' })).text
  api = await startApi()
  await openOwnSpool(spoolBytes)
  startShipper()

  const untilReplicasAreComplete = () =>
    eventually(async () => {
      for (const { replicas } of cluster.shards) {
        const cause = await replicas?.incomplete()
        if (cause !== undefined) throw new Error(cause)
      }
    }, 60_000)

  async function shardsOf(): Promise<Map<string, number>> {
    const rows = await postgres<{ id: string; shard: number }[]>`SELECT id, shard FROM sites`
    return new Map(rows.map(({ id, shard }) => [id, shard]))
  }

  return {
    folder,
    accountKey,
    stores: () => ({ postgres, cluster }),
    of: (shard: number) => ({ postgres, clickhouse: cluster.of({ shard }) }),
    shardsOf,
    async createSite(domain: string, zone: string) {
      const id = await createSite(postgres, { accountId, domain, timeZone: zone })
      const key = (await createKey(postgres, keySecrets, { accountId, siteId: id, name: 'Seams' })).text
      return { id, key }
    },
    /** Accepts events as a collector does: they are on disk when this resolves. */
    async accept(events: readonly TrafficEvent[]): Promise<void> {
      const shards = await shardsOf()
      await spool.append(
        events.map((event) => ({ event, isRepeatable: true, shard: shards.get(event.siteId) as number })),
      )
    },
    /** Whether the spool refuses events while its disk is full. */
    async refusesWhenFull(events: readonly TrafficEvent[]): Promise<boolean> {
      await spool.close()
      await openOwnSpool(1)
      const isRefused = await this.accept(events).then(
        () => false,
        () => true,
      )
      await spool.close()
      await openOwnSpool(spoolBytes)
      return isRefused
    },
    lastError: () => lastError,
    startShipper,
    killShipper,
    /**
     * Resolves when every accepted event is in ClickHouse and PostgreSQL has heard of it. While a replica is away, events also stay in the
     * spool.
     */
    settle: (isReplicaAway = false) =>
      eventually(async () => {
        if (shipper?.exitCode !== null || shipper.signalCode !== null) startShipper() // as the collector does
        for (const number of spoolFiles(spoolFolder))
          if (hasRows(spoolFilePath(spoolFolder, number), isReplicaAway ? 'groups WHERE NOT kept' : 'groups'))
            throw new Error('Events wait in the spool')
        if (hasRows(join(spoolFolder, 'shipped.sqlite'), 'notes')) throw new Error('Notes wait in the spool')
      }, 40_000),
    /** The path begins with the version of the API. */
    get: async (path: string, key: string) => {
      const response = await fetch(`${api.url}/api${path}`, { headers: { Authorization: `Bearer ${key}` } })
      return { status: response.status, text: await response.text() }
    },
    async restartApi(): Promise<void> {
      await api.close()
      api = await startApi()
    },
    /** A command as a process of its own, killed after some milliseconds if they are given. */
    async footfall(words: string[], killAfterMs?: number): Promise<{ code: number; stdout: string; stderr: string }> {
      return new Promise((resolve) => {
        const options = { env: { ...inherited, ...environment() }, cwd: '/', maxBuffer: 64e6 }
        const child = execFile(process.execPath, [footfallMain, ...words], options, (error, stdout, stderr) => {
          clearTimeout(timer)
          resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
        })
        const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
      })
    },
    /** As if the half minute had passed after which a process that was killed no longer counts. */
    expireLeases: () => postgres`UPDATE leases SET expires_at = now()`.then(() => {}),
    endConnections: () =>
      admin(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      ),
    async dumpPostgres(): Promise<string> {
      const file = join(folder, `postgres-${++dumps}.dump`)
      await run('pg_dump', ['-Fc', '-f', file, postgresUrl()])
      return file
    },
    async restorePostgres(file: string): Promise<void> {
      await admin(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin(`CREATE DATABASE ${name}`)
      await run('pg_restore', ['-d', postgresUrl(), file])
    },
    untilReplicasAreComplete,
    async dumpClickHouse(): Promise<string> {
      const backup = `${name}_${++dumps}`
      await untilReplicasAreComplete()
      for (const [first] of clickhouseUrls())
        await onServer(first as string, `BACKUP DATABASE ${name} TO File('${backup}')`)
      return backup
    },
    /** One replica of each shard is restored; the others copy its rows when `migrate` has made their tables. */
    async restoreClickHouse(backup: string): Promise<void> {
      for (const urls of clickhouseUrls()) {
        for (const url of urls) await onServer(url, `DROP DATABASE ${name} SYNC`)
        const [first, ...others] = urls as [string, ...string[]]
        await onServer(first, `RESTORE DATABASE ${name} FROM File('${backup}')`)
        for (const url of others) await createClickHouseDatabase(url)
      }
    },
    async migrate(): Promise<void> {
      await migrate({ postgres, cluster })
      await untilReplicasAreComplete()
    },
    /** Starts a server whose disk was replaced. Keeper takes the old one for active for some seconds, and so does the breaker for down. */
    async replace(server: Server): Promise<void> {
      await server.start()
      for (const url of clickhouseUrls().flat()) await createClickHouseDatabase(url)
      const leftOut = (cause: Error) => {
        throw cause
      }
      await eventually(() => migrate({ postgres, cluster }, { leftOut }), 60_000)
      await untilReplicasAreComplete()
    },
    /** `footfall restore` into new databases. What ran on the old ones ends. */
    async restore(backup: string): Promise<void> {
      await api.close()
      await Promise.all([postgres.end({ timeout: 1 }), cluster.close()])
      name = newDatabaseName()
      names.push(name)
      await createDatabases()
      connect()
      await migrate({ postgres, cluster })
      const { code, stderr } = await this.footfall(['restore', backup])
      if (code !== 0) throw new Error(`footfall restore: ${stderr}`)
      api = await startApi()
    },
    servers,
    async close(): Promise<void> {
      await killShipper()
      await spool.close()
      await api.close()
      await Promise.all([postgres.end({ timeout: 1 }), cluster.close()])
      for (const one of names) {
        await admin(`DROP DATABASE IF EXISTS ${one} WITH (FORCE)`)
        for (const url of servers.clickhouse.addresses.flat())
          await onServer(url, `DROP DATABASE IF EXISTS ${one} SYNC`)
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const server = openClickHouse(Object.assign(new URL(url), { pathname: '/default' }).href)
  await server.command(statement).finally(() => server.close())
}

/** Whether a table of a file of the spool has rows. The file may not be there yet. */
function hasRows(path: string, table: string): boolean {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true })
    return file.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined
  } catch {
    return false
  } finally {
    file?.close()
  }
}
