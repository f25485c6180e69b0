import { addressesOf } from '../cluster/cluster.ts'
import { migrate as applyMigrations } from '../cluster/migrate.ts'
import { createClickHouseDatabase } from '../stores/clickhouse.ts'
import { createPostgresDatabase } from '../stores/postgres.ts'
import { type Command, positionals } from './command.ts'

export const migrate: Command = {
  summary: 'Create both databases if they are missing, and apply all migrations',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    await createPostgresDatabase(context.config.DATABASE_URL)
    for (const url of addressesOf(context.config).flat()) await createClickHouseDatabase(url)
    const applied = await applyMigrations(context, {
      leftOut: (cause) => {
        throw cause // or it would say that all is up to date
      },
    })
    return {
      data: { applied },
      show: (terminal) =>
        applied.length === 0
          ? 'Nothing to do: both databases are up to date.'
          : applied.map((name) => `${terminal.good('applied')} ${name}`).join('\n'),
    }
  },
}
