// Generates migrations/*/schema.sql, the schema after all migrations, one file per store.

import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import type { Stores } from '../../src/cluster/stores.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { freePort } from '../clickhouse/server.ts'
import { createTemporaryDatabase } from '../clickhouse/temporary-database.ts'
import { startPGlite } from '../postgres/pglite-server.ts'
import { clickhouseSchema } from './clickhouse-schema.ts'
import { postgresSchema } from './postgres-schema.ts'

const header = `-- The schema of today, written by \`npm run docs\` from migrated databases: read it, do not edit it, nothing runs it. To change the
-- schema, add a migration beside this file. The migrations also say why a table is as it is; docs/data-model.md says what it means.
`

/** The files for databases that are already migrated. */
export async function schemaFiles({ postgres, clickhouse }: Stores): Promise<Record<string, string>> {
  const { tables, code } = await postgresSchema(postgres)
  return {
    'migrations/postgres/schema.sql': [header, ...tables.map(({ text }) => text), code].join('\n'),
    'migrations/clickhouse/schema.sql': [header, ...(await clickhouseSchema(clickhouse)).map(({ text }) => text)].join(
      '\n',
    ),
  }
}

/** The same for new temporary databases. PostgreSQL comes from npm, so that none needs to be installed. */
export async function newSchemaFiles(): Promise<Record<string, string>> {
  const database = await createTemporaryDatabase()
  const clickhouse = openClickHouse(database.url)
  const port = await freePort()
  const server = await startPGlite(port)
  const postgres = openPostgres(`postgres://postgres@127.0.0.1:${port}/postgres`, 1)
  try {
    await migrate({ postgres, cluster: clusterOf([clickhouse]) })
    return await schemaFiles({ postgres, clickhouse })
  } finally {
    await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
    await Promise.all([server.close(), database.remove()])
  }
}
