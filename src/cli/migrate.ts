import { userInfo } from 'node:os'
import { addressesOf } from '../cluster/cluster.ts'
import type { Obstacle, Rewriting } from '../cluster/column-rewrites.ts'
import { migrate as applyMigrations } from '../cluster/migrate.ts'
import { createClickHouseDatabase } from '../stores/clickhouse.ts'
import { createPostgresDatabase } from '../stores/postgres.ts'
import { type Command, CommandError, type Context, positionals } from './command.ts'
import { leftOf, namesOf, planOf, whyNot } from './rewriting.ts'
import { type Progress, showProgress } from './terminal.ts'

export const migrate: Command = {
  summary: 'Create both databases if they are missing, and apply all migrations',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    await createPostgresDatabase(context.config.DATABASE_URL).catch(mayNotCreate(context.config.DATABASE_URL))
    for (const url of addressesOf(context.config).flat()) await createClickHouseDatabase(url)
    const postponed: [Rewriting, Obstacle][] = []
    const applied = await applyMigrations(context, {
      leftOut: (cause) => {
        throw cause // or it would say that all is up to date
      },
      postponed: (...cause) => postponed.push(cause),
      watch: watchOn(context),
    })
    const [first] = postponed
    if (first) {
      const [rewriting, obstacle] = first
      const of = context.cluster.shards.length > 1 ? `Shard ${rewriting.shard}: ` : ''
      const { message, hint } = whyNot(rewriting, obstacle)
      throw new CommandError(`${of}${leftOf(rewriting)}. ${message}`, hint)
    }
    return {
      data: { applied },
      show: (terminal) =>
        applied.length === 0
          ? 'Nothing to do: both databases are up to date.'
          : applied.map((name) => `${terminal.good('applied')} ${name}`).join('\n'),
    }
  },
}

/** A role of a distribution's PostgreSQL may not create databases. */
const mayNotCreate =
  (url: string) =>
  (error: Error & { code?: string }): never => {
    if (error.code !== '42501') throw error
    const { username, pathname } = new URL(url)
    const [role, database] = [
      decodeURIComponent(username) || userInfo().username,
      decodeURIComponent(pathname.slice(1)),
    ]
    throw new CommandError(
      `The database ${database} does not exist, and the role ${role} may not create it.`,
      `As an administrator, run: sudo -u postgres createdb --owner=${role} ${database}`,
    )
  }

/** Says what a step takes before it begins, then shows how many parts are done. */
function watchOn({ progressTo, cluster }: Context) {
  let shown: { progress: Progress; total: number } | undefined
  const of = ({ shard }: Rewriting) => (cluster.shards.length > 1 ? `shard ${shard}, ` : '')
  return {
    begins(rewriting: Rewriting) {
      if (rewriting.parts > 0) progressTo.write(`${of(rewriting)}${planOf(rewriting)}\n`)
    },
    rewriting(left: Rewriting) {
      if (left.parts > 0)
        shown ??= {
          progress: showProgress(progressTo, `Rewriting ${of(left)}${namesOf(left)}`, 'parts'),
          total: left.parts,
        }
      // Parts that are merged meanwhile, or inserted before the type changed, change the number.
      if (shown) shown.total = Math.max(shown.total, left.parts)
      shown?.progress.update(shown.total - left.parts, shown.total)
      if (left.parts > 0) return
      shown?.progress.end()
      shown = undefined
    },
  }
}
