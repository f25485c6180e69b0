// Test files that take long. `npm test -- --short`, as in .ci/run, runs those whose subject changed; the night runs all.

/** The beginnings of paths whose change runs the tests. Without any, only the night runs them, because .ci/run checks the subject in a shorter way. */
export const longTests: Readonly<Record<string, readonly string[]>> = {
  'test/faults/': [], // check:chaos breaks the same stores under a whole installation
  // check:reference opens the same page and sends calls from it; the examples run in four languages.
  'test/api/reference.test.ts': [],
  'test/api/reference-examples.test.ts': [],
  'test/cli/backup-under-traffic.test.ts': [], // cli/backup.test.ts without traffic
  // check:console opens every page in a browser; the tests beside these send the same forms.
  'test/console/site-pages-browser.test.ts': [],
  'test/console/people-browser.test.ts': [],
  'test/console/dashboard-browser.test.ts': [],
  'test/console/keys-browser.test.ts': [],
  'test/collector/outages.test.ts': [], // check:collect stops ClickHouse under load

  // The seconds of each, with four at once on two cores.
  'test/moving/': ['src/moving/', 'src/collector/shipper/', 'src/erasure/', 'src/rollups/', 'src/traffic/'], // 194
  'test/rollups/retention.test.ts': ['src/rollups/', 'src/calendar/', 'src/traffic/'], // 112
  'test/rollups/together.test.ts': ['src/rollups/', 'src/calendar/', 'src/traffic/'], // 64
  'test/rollups/ledger.test.ts': ['src/rollups/'], // 57
  'test/rollups/runs.test.ts': ['src/rollups/'], // 43
  'test/recounting/': ['src/recounting/', 'src/rollups/', 'src/stats/', 'src/calendar/', 'src/traffic/'], // 80
  'test/erasure/': ['src/erasure/', 'src/rollups/', 'src/accounts/', 'src/moving/'], // 94
  'test/cluster/cluster.test.ts': ['dev/clickhouse/', 'deploy/clickhouse/'], // 66
  'test/cluster/column-rewrites.test.ts': ['dev/clickhouse/'], // 58
  'test/cluster/replicated-rewrites.test.ts': ['dev/clickhouse/'], // 52
  'test/importing/': ['src/importing/', 'src/enrichment/', 'src/traffic/', 'src/rollups/'], // 56
  'test/demo/': ['src/demo/', 'src/traffic/'], // 28
  'test/console/route-matrix.test.ts': ['src/console/', 'src/users/', 'src/accounts/', 'docs/routes.md'], // 99
  'test/console/gate.test.ts': ['src/console/', 'src/users/', 'src/accounts/'], // 68
  'test/console/sign-in-limits.test.ts': ['src/console/', 'src/users/', 'src/process/'], // 41
  'test/mail/': ['src/mail/', 'src/users/', 'src/web/'], // 40
  'test/email-reports/': ['src/email-reports/', 'src/mail/', 'src/stats/', 'src/display/', 'src/calendar/', 'src/web/'], // 58
  'test/collector/tracker/': ['src/tracker/', 'src/collector/', 'src/enrichment/'], // 111
  'test/cli/doctor.test.ts': ['src/cli/', 'src/process/', 'src/config', 'src/rollups/', 'deploy/'], // 75
  'test/dev/ending.test.ts': [
    'dev/',
    'src/cli/',
    'src/process/',
    'src/api/',
    'src/collector/',
    'src/console/service.ts',
  ], // 89
  'test/dev/tutorial.test.ts': ['docs/tutorial/', 'CONTRIBUTING.md', 'src/stats/', 'src/api/', 'dev/docs/'], // 78
}

/** What every test stands on. */
const everything = [
  'migrations/',
  'src/cluster/',
  'src/stores/',
  'test/long-tests.ts',
  'test/run.ts',
  'test/support/',
  'package-lock.json',
  '.node-version',
]

/** Whether a file is left to the night, when these files have changed. */
export function leftToTheNight(changed: readonly string[]): (file: string) => boolean {
  const isTouched = (paths: readonly string[]) => changed.some((one) => paths.some((path) => one.startsWith(path)))
  const left = Object.entries(longTests)
    .filter(([test, subject]) => subject.length === 0 || !isTouched([test, ...subject, ...everything]))
    .map(([test]) => test)
  return (file) => left.some((test) => file.startsWith(test))
}
