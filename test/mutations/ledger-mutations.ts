// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const folding = (name: string) => `test/folding/${name}.test.ts`
const ledger = 'migrations/postgres/0012_fold_runs.sql'

/** Breakages of the ledger of what is folded: runs, leases, late days, moves to other time zones. */
export const ledgerMutations: Mutation[] = [
  {
    name: 'ledger: a fold is written under a version that its days had before',
    file: ledger,
    find: "min(version) FILTER (WHERE NOT CASE what WHEN 'day' THEN written_days ELSE written_months END && asked),",
    replace: 'min(version),',
    caughtBy: folding('runs'),
  },
  {
    name: 'ledger: a commit publishes what others of its version have begun',
    file: ledger,
    find: '    finished := fold.publishes;\n',
    replace:
      "    finished := fold.publishes + coalesce((SELECT range_agg(publishes) FROM fold_runs WHERE site_id = fold.site_id AND version = fold.version AND span = fold.span), '{}');\n",
    caughtBy: folding('runs'),
  },
  {
    name: 'ledger: a month that is being written is not told that one of its days was folded again',
    file: ledger,
    find: "        UPDATE fold_runs SET publishes = publishes - touched WHERE site_id = fold.site_id AND span = 'month';\n",
    replace: '',
    caughtBy: folding('runs'),
  },
  {
    name: 'ledger: a run that was given up may commit',
    file: ledger,
    find: "DELETE FROM fold_runs WHERE id = run AND state = 'folding' RETURNING",
    replace: 'DELETE FROM fold_runs WHERE id = run RETURNING',
    caughtBy: folding('runs'),
  },
  {
    name: 'ledger: rows of a fold under way are taken for left over',
    file: ledger,
    find: "SELECT rest.ranges - coalesce(range_agg(run.writes), '{}') AS ranges",
    replace: 'SELECT rest.ranges AS ranges',
    caughtBy: folding('runs'),
  },
  {
    name: 'ledger: days of a run that was given up are written under its version again',
    file: 'src/folding/ledger.ts',
    find: "UPDATE fold_runs SET state = 'swept' WHERE id = ${id} AND state = 'given up'`",
    replace: "UPDATE fold_runs SET state = 'sweeping' WHERE id = ${id}`\n  await releaseRun(postgres, { id })",
    caughtBy: folding('runs'),
  },
  {
    name: 'ledger: a run is never given up',
    file: 'src/folding/ledger.ts',
    find: "const givenUpAfter = '15 minutes'",
    replace: "const givenUpAfter = '15 hours'",
    caughtBy: folding('runs'),
  },
  {
    name: 'late days: a fold under way is not told',
    file: ledger,
    find: "publishes - CASE span WHEN 'day' THEN noted ELSE touched END",
    replace: "publishes - CASE span WHEN 'day' THEN '{}' ELSE touched END",
    caughtBy: folding('ledger'),
  },
  {
    name: 'late days: a month under way is not told',
    file: ledger,
    find: "publishes - CASE span WHEN 'day' THEN noted ELSE touched END",
    replace: "publishes - CASE span WHEN 'day' THEN noted ELSE '{}' END",
    caughtBy: folding('runs'),
  },
  {
    name: 'late days: only what is not under way is asked for',
    file: 'src/traffic/late-days.ts',
    find: "AND run.publishes && CASE run.span WHEN 'day' THEN late.days ELSE late.months END)",
    replace: 'AND false)',
    caughtBy: folding('ledger'),
  },
  {
    name: 'late days: the month stays',
    file: ledger,
    find: 'SET days = days - noted, months = months - touched',
    replace: 'SET days = days - noted',
    caughtBy: folding('ledger'),
  },
  {
    name: 'late days: those of today are not asked for, whatever is folded',
    file: 'test/support/world.ts',
    find: '    await noteLateDays(postgres, events)\n',
    replace:
      '    const today = Temporal.Instant.fromEpochMilliseconds(now()).toZonedDateTimeISO(zone).toPlainDate().toString()\n    await noteLateDays(postgres, events.filter(({ day }) => day < today))\n',
    caughtBy: 'check:oracle -- --seed 9 --world 10 --requests 20',
  },
  {
    name: 'answers: an event for a settled day that is looked at again is not noticed',
    file: ledger,
    find: 'lower(noted) - 1, late = late + 1',
    replace: 'lower(noted) - 1',
    caughtBy: 'test/contract/answers-again.test.ts',
  },
  {
    name: 'answers: a day that is settled no longer leaves them as they are',
    file: 'src/folding/loop.ts',
    find: 'CASE WHEN excluded.considered_through < known.considered_through THEN 1 ELSE 0 END',
    replace: '0',
    caughtBy: folding('zones'),
  },
  {
    name: 'answers: a window that ends now is settled where today was closed in the zone before',
    file: 'src/api/stats-routes.ts',
    find: '        periods.current.end.epochMilliseconds < generatedAt.epochMilliseconds &&\n',
    replace: '',
    caughtBy: folding('zones'),
  },
  {
    name: 'open days: a count is read in another zone than its own',
    file: 'src/accounts/sites.ts',
    find: ' AND open_folds.time_zone = sites.time_zone',
    replace: '',
    caughtBy: folding('zones'),
  },
  {
    name: 'loop: nobody asks for the lease',
    file: 'src/folding/lease.ts',
    find: '  if (count === 0) return undefined\n',
    replace: '',
    caughtBy: folding('loop'),
  },
  {
    name: 'loop: a lease that has expired is waited for',
    file: 'src/folding/lease.ts',
    find: 'WHERE held.expires_at < now()`',
    replace: 'WHERE false`',
    caughtBy: folding('loop'),
  },
  {
    name: 'loop: a site that was not folded to the end is not looked at again',
    file: 'src/folding/loop.ts',
    find: '>= closed && !site.is_unfinished',
    replace: '>= closed',
    caughtBy: 'test/faults/folding.test.ts',
  },
]
