// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const dropping = 'test/folding/retention.test.ts'
const windows = 'test/contract/retention.test.ts'
const commands = 'test/cli/backup.test.ts'

/** Breakages of dropping old events, and of what must not depend on them any more. */
export const retentionMutations: Mutation[] = [
  {
    name: 'retention: 24 months are allowed',
    file: 'src/config.ts',
    find: 'Number(text) < 25',
    replace: 'Number(text) < 24',
    caughtBy: 'test/unit/config.test.ts',
  },
  {
    name: 'retention: a month ends where the date is latest',
    file: 'src/folding/retention.ts',
    find: "'Etc/GMT+12'",
    replace: "'Etc/GMT-14'",
    caughtBy: dropping,
  },
  {
    name: 'retention: a longer one moves the declared day back',
    file: 'src/folding/retention.ts',
    find: ' WHERE kept_from < ${from}::text::date`',
    replace: '`',
    caughtBy: dropping,
  },
  {
    name: 'retention: a site that could not be folded keeps nothing from being dropped',
    file: 'src/folding/retention.ts',
    find: '  if (unfolded > 0) return\n',
    replace: '',
    caughtBy: dropping,
  },
  {
    name: 'retention: months are dropped while somebody may be reading them',
    file: 'src/folding/retention.ts',
    find: '\n    WHERE folded_at <= now() - ${patience}::text::interval`',
    replace: '\n    WHERE ${patience}::text IS NOT NULL`',
    caughtBy: dropping,
  },
  {
    name: 'retention: what is left of a deleted site has to be folded',
    file: 'src/folding/retention.ts',
    find: '    if (domain === undefined) continue\n',
    replace: '    if (domain === undefined) return\n',
    caughtBy: dropping,
  },
  {
    name: 'retention: a small site that had to be folded is folded for ever',
    file: 'src/folding/loop.ts',
    find: ' AND (upper(days) > (SELECT kept_from FROM retention)) IS NOT FALSE',
    replace: '',
    caughtBy: dropping,
  },
  {
    name: 'retention: a fold of events that are gone replaces the one there is',
    file: 'migrations/postgres/0012_fold_runs.sql',
    find: '* (SELECT datemultirange(daterange(NULL, kept_from)) FROM retention)',
    replace: "* '{}'::datemultirange",
    caughtBy: dropping,
  },
  {
    name: 'retention: what was written too late is folded',
    file: 'src/folding/fold.ts',
    find: 'AND day >= ${date(keptFrom)} ORDER BY',
    replace: "AND day >= ${date(keptFrom && '1970-01-01')} ORDER BY",
    caughtBy: dropping,
  },
  {
    name: 'retention: a late event takes out a day that cannot be folded again',
    file: 'migrations/postgres/0012_fold_runs.sql',
    find: 'SELECT given * datemultirange(daterange(kept_from, NULL)) INTO noted',
    replace: 'SELECT given INTO noted',
    caughtBy: dropping,
  },
  {
    name: 'retention: verify counts days without events',
    file: 'src/folding/verify.ts',
    find: "since(all, site?.eventsFrom ?? '')",
    replace: "since(all, '')",
    caughtBy: dropping,
  },
  {
    name: 'retention: an import does not say what was declared while it wrote',
    file: 'src/collector/import/job.ts',
    find: '  return isKept()\n',
    replace: '  return true\n',
    caughtBy: dropping,
  },
  {
    name: 'retention: an import writes what is too old',
    file: 'src/collector/import/job.ts',
    find: '  if (!(await isKept())) return false\n',
    replace: '',
    caughtBy: dropping,
  },
  {
    name: 'retention: the shipper writes what is too old',
    file: 'src/collector/shipper/shipper.ts',
    find: 'return events.filter(({ day }) => day >= keptFrom)',
    replace: "return keptFrom === '' ? [] : events",
    caughtBy: 'test/collector/shipper.test.ts',
  },
  {
    name: 'retention: a part of a day without events is answered',
    file: 'src/api/stats-routes.ts',
    find: 'endsInDroppedDay(previous, site.folds, site.eventsFrom)',
    replace: "endsInDroppedDay(previous, site.folds, '1970-01-01')",
    caughtBy: windows,
  },
  {
    name: 'retention: windows end with whole days that never had events',
    file: 'src/stats/plan.ts',
    find: ' && foldedDays([[day, day]], folds).length > 0',
    replace: ' && Array.isArray(folds)',
    caughtBy: windows,
  },
  {
    name: 'retention: a part of a day is made whole although its events are there',
    file: 'src/stats/plan.ts',
    find: 'return day < eventsFrom && ',
    replace: 'return day <= eventsFrom && ',
    caughtBy: windows,
  },
  {
    name: 'retention: nobody is told that the window before has the whole day',
    file: 'src/api/stats-routes.ts',
    find: 'warnings: isWidened ? [wholeDay(previous)] : [],',
    replace: 'warnings: isWidened ? [] : [],',
    caughtBy: windows,
  },
  {
    name: 'retention: a backup leaves out what cannot be folded again',
    file: 'src/cli/backup.ts',
    find: '    const { before, ...folded } = await writeFoldedForGood(control, folder)\n',
    replace:
      "    const { before: _, ...folded } = await writeFoldedForGood(control, folder)\n    const before = '1970-01-01'\n",
    caughtBy: commands,
  },
  {
    name: 'retention: demo traffic replaces days without events',
    file: 'src/cli/demo.ts',
    find: 'if (row?.any || folds.length > 0)',
    replace: 'if (row?.any)',
    caughtBy: commands,
  },
]
