// Everything between a hit and a response, with parts that can be killed: a ClickHouse with its own folder, a collector with its own
// spool, an API, and a separate database.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseServer, freePort, startClickHouse } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { createClickHouseDatabase, openClickHouse } from '../../../src/stores/clickhouse.ts'
import { createPostgresDatabase, openPostgres } from '../../../src/stores/postgres.ts'
import { startApiProcess } from '../../support/api-process.ts'
import {
  type CollectorProcess,
  type CollectorProcessOptions,
  startCollectorProcess,
  withoutLimits,
} from '../../support/collector-process.ts'
import { eventually } from '../../support/eventually.ts'
import { databaseUrl, keySecrets } from '../../support/stores.ts'
import type { Check } from '../runner.ts'

export interface Site {
  id: string
  domain: string
  key: string
}

export type Installation = Awaited<ReturnType<typeof install>>

/** `folder` holds the data of ClickHouse and the spool; the default is a temporary folder. */
export async function install(check: Check, folder = mkdtempSync(join(tmpdir(), 'footfall-collect-'))) {
  mkdirSync(folder, { recursive: true })
  check.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  const name = `footfall_test_${randomBytes(6).toString('hex')}`
  const clickhouseFolder = join(folder, 'clickhouse')
  let clickhouseServer: ClickHouseServer = await startClickHouse({ folder: clickhouseFolder })
  check.onEnd(() => clickhouseServer.kill())
  const addresses = {
    postgres: Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href,
    clickhouse: `${clickhouseServer.url}/${name}`,
  }
  await createPostgresDatabase(addresses.postgres)
  await createClickHouseDatabase(addresses.clickhouse)
  const postgres = openPostgres(addresses.postgres, 2)
  const clickhouse = openClickHouse(addresses.clickhouse)
  check.onEnd(async () => {
    await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
    const admin = openPostgres(databaseUrl, 1)
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })
  const api = await startApiProcess(addresses)
  check.onEnd(api.stop)
  const accountId = await createAccount(postgres, { name: 'Collect', plan: 'Agency' })
  const collectorPort = await freePort()
  const spoolFolder = join(folder, 'spool')
  let collector: CollectorProcess | undefined
  check.onEnd(() => collector?.kill())

  /** The rows of a statement as text, without the limits on queries of the API. */
  async function ask(statement: string): Promise<string[][]> {
    const { origin, username, password } = new URL(addresses.clickhouse)
    const answer = await fetch(`${origin}/?database=${name}`, {
      method: 'POST',
      body: `${statement} FORMAT TSV`,
      headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}` },
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t'))
  }

  return {
    addresses,
    api,
    ask,
    spoolFolder,
    async newSite(): Promise<Site> {
      const domain = `${randomUUID()}.example`
      const id = await createSite(postgres, { accountId, domain })
      const key = await createKey(postgres, keySecrets, { accountId, siteId: id, name: 'Collect' })
      return { id, domain, key: key.text }
    },
    get collector(): CollectorProcess {
      if (!collector) throw new Error('No collector is running yet')
      return collector
    },
    async startCollector(options: CollectorProcessOptions = {}): Promise<CollectorProcess> {
      const environment = { ...withoutLimits, ...options.environment }
      collector = await startCollectorProcess(addresses, { port: collectorPort, spoolFolder, ...options, environment })
      return collector
    },
    clickhousePid: () => clickhouseServer.pid,
    killClickHouse: () => clickhouseServer.kill(),
    async startClickHouseServer(): Promise<void> {
      clickhouseServer = await startClickHouse({ folder: clickhouseFolder, port: clickhouseServer.port })
      await eventually(() => ask('SELECT count() FROM events'), 20_000)
    },
  }
}
