// What runs at night, and what of it also runs on a change. .ci/quick and .ci/run list the rest. test/house/github.test.ts reads this
// table: every check and benchmark of package.json is in it, with arguments that it accepts.

export interface Part {
  /** `tests`, a check without its prefix, or a benchmark. */
  name: string
  /** Arguments at night. Most checks are in full without any. */
  full?: string
  /** What .ci/run runs when a change touches the subject. Checks without it run in .ci/run on every change, or only at night. */
  touched?: {
    short: string
    /** What the short form takes on two cores. */
    seconds: number
    /** The beginnings of paths. Those of the check itself are understood. */
    paths: readonly string[]
  }
}

/** All touched parts together take no longer than this in .ci/run. What does not fit is named, and runs at night. */
export const maxTouchedSeconds = 300

/** Those that guard data come first. */
export const parts: readonly Part[] = [
  { name: 'tests' },
  { name: 'smoke' },
  {
    name: 'collect',
    touched: {
      short: '--rounds 1 --seconds 4 --down 3 --cpu 4',
      seconds: 75,
      paths: ['src/collector/', 'src/enrichment/', 'src/traffic/', 'test/support/collector-process.ts'],
    },
  },
  {
    name: 'powercut',
    touched: { short: '--n 1', seconds: 15, paths: ['src/collector/spool/', 'src/collector/shipper/'] },
  },
  {
    name: 'move',
    touched: {
      short: '--rounds 1 --rate 20 --events 60',
      seconds: 90,
      paths: ['src/moving/', 'src/collector/shipper/', 'src/erasure/', 'src/cluster/cluster.ts'],
    },
  },
  {
    name: 'seams',
    touched: {
      // The same walks every time, so that a red run is about the change. The night draws new ones.
      short: '--one 1 --two 1 --replicated 1 --steps 8 --seed 5969',
      seconds: 60,
      paths: [
        'src/rollups/',
        'src/moving/',
        'src/erasure/',
        'src/importing/',
        'src/mail/',
        'src/collector/shipper/',
        'src/cli/backup.ts',
        'src/accounts/directory.ts',
        'migrations/',
      ],
    },
  },
  {
    name: 'import',
    touched: {
      short: '--rows 4000 --kills 1 --megabytes 10',
      seconds: 75,
      paths: ['src/importing/', 'src/cli/import.ts', 'src/cli/import-sums.ts', 'src/rollups/imported-days.ts'],
    },
  },
  {
    name: 'alerts',
    touched: {
      short: '--sites 2 --quiet 1 --kills 2 --cost 500',
      seconds: 240,
      paths: ['src/alerts/'],
    },
  },
  {
    name: 'mail',
    touched: { short: '--reports 400 --kills 8', seconds: 75, paths: ['src/mail/', 'src/email-reports/'] },
  },
  {
    name: 'cluster',
    touched: {
      short: '--seconds 20 --rate 40 --events 100',
      seconds: 40,
      paths: ['src/stores/', 'src/cluster/', 'src/collector/shipper/', 'src/rollups/', 'deploy/clickhouse/'],
    },
  },
  {
    name: 'replicas',
    touched: {
      short: '--seconds 1 --rate 20 --events 40',
      seconds: 70,
      paths: [
        'src/stores/',
        'src/cluster/',
        'src/collector/shipper/',
        'src/rollups/',
        'deploy/clickhouse/',
        'dev/clickhouse/',
        'test/checks/cluster/',
      ],
    },
  },
  {
    name: 'limit',
    touched: {
      short: '--requests 20000 --processes 4 --schedules 1000 --outage 1',
      seconds: 40,
      paths: ['src/api/rate-limit.ts', 'src/api/access.ts', 'src/stores/redis.ts', 'src/stores/breaker.ts'],
    },
  },
  {
    name: 'deploy',
    touched: {
      short: '--restarts 4',
      seconds: 40,
      paths: ['src/cli/serve.ts', 'src/process/', 'src/api/main.ts', 'src/collector/main.ts', 'src/console/main.ts'],
    },
  },
  {
    name: 'chaos',
    touched: {
      short: '--seconds 40',
      seconds: 150,
      paths: ['src/stores/', 'src/cluster/', 'src/collector/', 'src/rollups/', 'src/erasure/', 'src/cli/serve.ts'],
    },
  },
  {
    name: 'faults',
    touched: {
      short: '--only faults/serve.test.ts --only faults/redis.test.ts',
      seconds: 60,
      paths: ['src/stores/', 'src/cluster/', 'src/process/', 'src/api/', 'src/cli/serve.ts'],
    },
  },
  {
    name: 'flood',
    touched: {
      short: '--events 10000 --sockets 500',
      seconds: 60,
      paths: ['src/collector/http/', 'src/collector/intake/', 'src/enrichment/'],
    },
  },
  {
    name: 'slowloris',
    touched: {
      short: '--sockets 500 --rounds 1',
      seconds: 60,
      paths: ['src/process/', 'src/api/app.ts', 'src/api/unparsed-requests.ts', 'src/collector/http/'],
    },
  },
  {
    name: 'signin',
    touched: {
      short: '--rounds 1 --most 5 --attack 5 --attack-most 8',
      seconds: 50,
      paths: [
        'src/users/',
        'src/process/network-buckets.ts',
        'src/console/sign-in/signing-in.ts',
        'src/console/gate.ts',
        'src/console/service.ts',
      ],
    },
  },
  {
    name: 'share',
    touched: {
      short: '--rounds 1 --most 8 --attack 5 --attack-most 8',
      seconds: 75,
      paths: [
        'src/users/shared-links.ts',
        'src/users/link-tokens.ts',
        'src/console/sharing/link-gate.ts',
        'src/console/sharing/link-limits.ts',
        'src/stats/service.ts',
      ],
    },
  },
  {
    name: 'smallbox',
    touched: {
      short: '--events 50000 --idle 2',
      seconds: 40,
      paths: ['src/rollups/', 'src/demo/', 'deploy/clickhouse/'],
    },
  },
  {
    name: 'reports',
    touched: {
      short: '--reports 40',
      seconds: 45,
      paths: ['src/email-reports/', 'src/mail/layout.ts', 'src/display/', 'src/stats/service.ts'],
    },
  },
  { name: 'oracle', full: '--worlds 500 --moved 50 --requests 30000' },
  { name: 'tenant', full: '--queries 1000000 --requests 100000 --sites 100' },
  { name: 'fuzz' },
  { name: 'sqli' },
  { name: 'canary' },
  { name: 'privacy' },
  { name: 'readme' },
  { name: 'console' },
  { name: 'reference' },
  { name: 'dashboard' },
  { name: 'restore' },
  { name: 'rollup' },
  { name: 'mutations' },
  { name: 'bench:api' },
  { name: 'bench:dashboard' },
  { name: 'bench:query' },
  { name: 'bench:peers' },
  { name: 'bench:rollup' },
  { name: 'bench:ratchet' },
  { name: 'bench:shards' },
  { name: 'bench:sites' },
  { name: 'bench:scale' },
]

export const scriptOf = ({ name }: Part): string =>
  name === 'tests' ? 'test' : name.startsWith('bench:') ? name : `check:${name}`

/** The words of a command that runs the part with these arguments. */
export const commandOf = (part: Part, words = ''): string[] => [
  ...['npm', 'run', '--silent', scriptOf(part)],
  ...(words === '' ? [] : ['--', ...words.split(' ')]),
]

/** The parts whose subject has one of these files. */
export function touchedBy(files: readonly string[]): Part[] {
  const common = ['test/checks/runner.ts', 'test/checks/schedule.ts']
  return parts.filter(({ name, touched }) => {
    const folder = name === 'faults' ? 'test/faults/' : `test/checks/${name === 'smallbox' ? 'small-box' : name}/`
    const paths = touched && [...touched.paths, ...common, folder]
    return paths?.some((path) => files.some((file) => file.startsWith(path)))
  })
}
