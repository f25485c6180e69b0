// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of importing. */
export const importing: readonly Mutation[] = [
  {
    name: 'import: it goes on after the site has moved',
    file: 'src/importing/job.ts',
    find: '  if (count > 0) return\n  const [deleted]',
    replace: '  if (count >= 0) return\n  const [deleted]',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'import: two days can be linked',
    file: 'src/importing/events.ts',
    find: "createHmac('sha256', salt).update(day).digest()",
    replace: "createHmac('sha256', salt).update(site.id).digest()",
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: a batch after a lost response is sent again without a look',
    file: 'src/importing/job.ts',
    find: 'let mayBeThere = true',
    replace: 'let mayBeThere = false',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: only the first batch is looked up after a restore',
    file: 'src/importing/job.ts',
    find: 'mayBeThere = missing.length < batch.length',
    replace: 'mayBeThere = false',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: a file that PostgreSQL does not know gets other ids than the first time',
    file: 'src/importing/job.ts',
    find: 'into ${site.id}`)',
    replace: 'into ${site.id} ${Math.random()}`)',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: the salt is not deleted',
    file: 'src/importing/job.ts',
    find: 'salt = NULL, finished_at = now()',
    replace: 'batches_done = batches_done',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: rolled-up days are not invalidated',
    file: 'src/importing/job.ts',
    find: 'Array.from(days, (day) => ({ siteId: site.id, day }))',
    replace: 'Array.from(days, (day) => ({ siteId: site.id, day })).slice(days.size)',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: an abandoned import counts as finished',
    file: 'src/importing/job.ts',
    find: 'if (job.isFinished) return',
    replace: 'if (job.salt === null) return',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'retention: an import writes events that are too old',
    file: 'src/importing/job.ts',
    find: '  if (!(await isRetained())) return false\n',
    replace: '',
    caughtBy: 'test/rollups/retention.test.ts',
  },
  {
    name: 'import: a batch that one replica has counts as imported',
    file: 'src/importing/job.ts',
    find: ' || !(await isSafe(clickhouse, batch))) throw',
    replace: ') throw',
    caughtBy: 'test/importing/lost-disk.test.ts',
  },
]
