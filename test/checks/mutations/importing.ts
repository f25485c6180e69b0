// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of importing and demo traffic. */
export const importing: readonly Mutation[] = [
  {
    name: 'contract: demo titles are recorded without their country',
    file: 'src/demo/statement.ts',
    find: 'SELECT site_id, pathname, country, max(',
    replace: "SELECT site_id, pathname, '' AS country, max(",
    caughtBy: 'test/demo/generate.test.ts',
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
    find: 'isDoubtful ? await missingEvents(clickhouse, batch.events) : batch.events',
    replace: 'isDoubtful && (await missingEvents(clickhouse, batch.events)).length < 0 ? [] : batch.events',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: the salt is not deleted',
    file: 'src/importing/job.ts',
    find: 'SET salt = NULL, finished_at = now()',
    replace: 'SET batches_done = batches_done',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'import: rolled-up days are not invalidated',
    file: 'src/importing/job.ts',
    find: 'Array.from(days, (day) => ({ siteId: site.id, day })),',
    replace: 'Array.from(days, (day) => ({ siteId: site.id, day })).slice(days.size),',
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
    name: 'operations: an error about the order names no line',
    file: 'src/importing/job.ts',
    find: 'is earlier than line ${previous.line}`',
    replace: 'is earlier than the line before it`',
    caughtBy: 'test/importing/import.test.ts',
  },
  {
    name: 'retention: an import does not report days declared while it wrote',
    file: 'src/importing/job.ts',
    find: '  return isRetained()\n',
    replace: '  return true\n',
    caughtBy: 'test/rollups/retention.test.ts',
  },
  {
    name: 'retention: an import writes events that are too old',
    file: 'src/importing/job.ts',
    find: '  if (!(await isRetained())) return false\n',
    replace: '',
    caughtBy: 'test/rollups/retention.test.ts',
  },
  {
    name: 'house: importing uses the HTTP part of the collector',
    file: 'src/importing/lines.ts',
    find: "import { createReadStream } from 'node:fs'\n",
    replace: "import { createReadStream } from 'node:fs'\nimport '../collector/http/limits.ts'\n",
    caughtBy: 'test/house/imports.test.ts',
  },
  {
    name: 'operations: an unknown column is reported for every line',
    file: 'src/importing/records.ts',
    find: '    if (!known.has(name))',
    replace: '    if (known.size === 0)',
    caughtBy: 'test/importing/import.test.ts',
  },
]
