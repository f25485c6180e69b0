import { readClocks } from '../cluster/clocks.ts'
import { columnsOf, pendingClickHouseMigrations, pendingMigrations } from '../cluster/migrate.ts'
import { openCountries } from '../enrichment/country.ts'
import { causeOf, explain } from '../process/error-hints.ts'
import { Unavailable } from '../stores/breaker.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import { backupState } from './backup-state.ts'
import { settingsNotInForce } from './clickhouse-settings.ts'
import { type Command, type Context, positionals } from './command.ts'
import { importedDaysState } from './imported-days-state.ts'
import { ledgerState } from './ledger-state.ts'
import { mailState } from './mail-state.ts'
import { portsState } from './ports-state.ts'
import { proxyState } from './proxy-state.ts'
import { recountState } from './recount-state.ts'
import { upgradeOf } from './rewriting.ts'
import { size } from './size.ts'
import { spoolState } from './spool-state.ts'

type State = 'ok' | 'warning' | 'failed' | 'skipped'

interface Finding {
  check: string
  state: State
  found: string
  /** What to do next; undefined if there is nothing to do. */
  advice?: string
}

const maxSkewMs = 1_000
const minDaysOfDisk = 30
/** The path of replicated tables in deploy/clickhouse/replicated. */
const replicaPath = '/clickhouse/tables/{shard}/{database}/{table}'

export const doctor: Command = {
  summary: 'Check configuration, connections, versions, clocks, migrations and disk',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    const findings: Finding[] = []
    const isSound = (check: string) => findings.some((one) => one.check === check && one.state !== 'failed')
    for (const [check, examine] of Object.entries(checks)) {
      const isPossible = needs[check]?.every(isSound) ?? true
      const examination = isPossible ? await examine(context).catch((error) => failure(error, check)) : skipped
      findings.push({ check, ...examination })
      if (check === 'Configuration' && findings[0]?.state === 'failed') break
    }
    const failed = findings.some(({ state }) => state === 'failed')
    return {
      data: findings,
      exitCode: failed ? 1 : 0,
      show: (terminal) => {
        const marks = {
          ok: terminal.good('✓'),
          warning: terminal.warn('!'),
          failed: terminal.bad('✗'),
          skipped: terminal.dim('-'),
        }
        return findings
          .map(({ check, state, found, advice }) =>
            [`${marks[state]} ${terminal.bold(check)}  ${found}`, ...(advice ? [`    ${advice}`] : [])].join('\n'),
          )
          .join('\n')
      },
    }
  },
}

type Examination = Omit<Finding, 'check'>

const ok = (found: string): Examination => ({ state: 'ok', found })

/** The checks that must pass before a check runs, so that one cause is not reported several times. */
const needs: Readonly<Record<string, readonly string[]>> = {
  'ClickHouse settings': ['ClickHouse'],
  Mail: ['PostgreSQL', 'Migrations'],
  Replication: ['ClickHouse'],
  Migrations: ['PostgreSQL', 'ClickHouse'],
  Clocks: ['PostgreSQL', 'ClickHouse'],
  Upgrade: ['ClickHouse', 'Migrations'],
  Ledger: ['PostgreSQL', 'ClickHouse', 'Migrations'],
  'Imported days': ['PostgreSQL', 'ClickHouse', 'Migrations'],
  Disk: ['ClickHouse', 'Migrations'],
  Recount: ['PostgreSQL', 'Migrations'],
}

const skipped: Examination = { state: 'skipped', found: 'not checked, because of the failure above' }

const addresses: Readonly<Record<string, string>> = { PostgreSQL: 'DATABASE_URL', ClickHouse: 'CLICKHOUSE_URL' }

function failure(error: Error, check: string): Examination {
  const cause = causeOf(error)
  const isAway = cause.code ? unreachable.has(cause.code) || cause.syscall === 'connect' : error instanceof Unavailable
  if (addresses[check] && isAway) {
    const advice = `Check that it runs, and its address: ${addresses[check]}.`
    return { state: 'failed', found: `does not answer (${cause.message})`, advice }
  }
  const { message, hint } = explain(error)
  return { state: 'failed', found: message, advice: hint }
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'CONNECT_TIMEOUT',
])

/** Every server, with a name if there are several. */
const serversIn = ({ cluster }: Context): { name: string; clickhouse: ClickHouse }[] =>
  cluster.shards.flatMap((shard) => {
    const ofShard = cluster.shards.length === 1 ? [] : [`shard ${shard.shard}`]
    return serversOf(shard).map((clickhouse, index) => {
      const names = shard.replicas ? [...ofShard, `replica ${index + 1}`] : ofShard
      return { name: names.join(' ') || 'ClickHouse', clickhouse }
    })
  })

/** With several servers, the worst result decides the state, and the text names each server. */
function ofEachServer(examine: (clickhouse: ClickHouse) => Promise<Examination>) {
  return async (context: Context): Promise<Examination> => {
    const servers = serversIn(context)
    const results = await Promise.all(
      servers.map(({ clickhouse }) => examine(clickhouse).catch((error) => failure(error, 'ClickHouse'))),
    )
    const worst = (['failed', 'warning', 'ok'] as const).flatMap(
      (state) => results.find((one) => one.state === state) ?? [],
    )[0]
    if (!worst || servers.length === 1) return worst ?? skipped
    return { ...worst, found: results.map((one, index) => `${servers[index]?.name}: ${one.found}`).join('; ') }
  }
}

/** Undefined: the path is right, or the server does not answer. */
async function wrongPathOf(clickhouse: ClickHouse): Promise<string | undefined> {
  const [row] = await clickhouse
    .rows<{ path: string }>(sql`SELECT value AS path FROM system.server_settings WHERE name = 'default_replica_path'`)
    .catch(() => [])
  return !row || row.path === replicaPath ? undefined : `default_replica_path must be ${replicaPath}`
}

const checks: Record<string, (context: Context) => Promise<Examination>> = {
  async Configuration(context) {
    const { KEY_SECRETS, PORT } = context.config
    const from = context.settingsFile ? `the environment and ${context.settingsFile}` : 'the environment'
    return ok(`from ${from}: ${KEY_SECRETS.length} key secret${KEY_SECRETS.length > 1 ? 's' : ''}, port ${PORT}`)
  },

  async Countries({ config }) {
    const countries = await openCountries(config.COUNTRY_FILE)
    countries.close()
    return ok(config.COUNTRY_FILE ?? 'the file of db-ip.com from npm')
  },

  Ports: portsState,

  Spool: spoolState,

  async PostgreSQL({ postgres }) {
    const [{ version }] = await postgres<[{ version: string }]>`SELECT current_setting('server_version') AS version`
    return Number.parseInt(version, 10) < 14
      ? { state: 'failed', found: `version ${version}`, advice: 'Footfall needs PostgreSQL 14 or newer.' }
      : ok(`version ${version}`)
  },

  ClickHouse: ofEachServer(async (clickhouse) => {
    const version = await clickhouse.version()
    return Number.parseInt(version, 10) < 25
      ? { state: 'failed', found: `version ${version}`, advice: 'Footfall needs ClickHouse 25 or newer.' }
      : ok(`version ${version}`)
  }),

  'ClickHouse settings': ofEachServer(async (clickhouse) => {
    const { settings, logs } = await settingsNotInForce(clickhouse)
    if (settings.length === 0 && logs.length === 0)
      return ok('the same as in deploy/clickhouse, or the machine is large')
    return {
      state: 'warning',
      found: [
        ...(settings.length > 0 ? [`too large for a small machine: ${settings.join(', ')}`] : []),
        ...(logs.length > 0 ? [`system logs that grow for ever: ${logs.join(', ')}`] : []),
      ].join('; '),
      advice:
        'Copy the folders config.d and users.d of deploy/clickhouse into /etc/clickhouse-server, and restart ClickHouse.',
    }
  }),

  async Redis({ config }) {
    if (config.REDIS_URL === undefined) return ok('not configured; a single API process does not need it')
    const { openRedis } = await import('../stores/redis.ts') // loaded only here, because it would delay every other command by a tenth of a second
    const redis = openRedis(config.REDIS_URL, () => {})
    try {
      const { version } = await redis.inspect()
      return Number.parseInt(version, 10) < 7
        ? { state: 'failed', found: `version ${version}`, advice: 'Footfall needs Redis 7 or newer, or Valkey.' }
        : ok(`version ${version}`)
    } catch (error) {
      const advice = 'Check REDIS_URL. Until Redis answers, each API process counts alone.'
      return { state: 'failed', found: `does not answer (${causeOf(error as Error).message})`, advice }
    } finally {
      await redis.close()
    }
  },

  async Replication(context) {
    const { shards } = context.cluster
    if (shards.every(({ replicas }) => !replicas)) return ok('not used: every shard has one server')
    const servers = serversIn(context)
    const wrong = await Promise.all(servers.map(({ clickhouse }) => wrongPathOf(clickhouse)))
    const incomplete = await Promise.all(shards.map(({ replicas }) => replicas?.incomplete()))
    const faults = [
      ...incomplete.filter((fault) => fault !== undefined),
      ...wrong.flatMap((fault, index) => (fault ? [`${servers[index]?.name}: ${fault}`] : [])),
    ]
    return faults.length === 0
      ? ok('every replica has all rows')
      : { state: 'failed', found: faults.join('; '), advice: 'See "When a replica is down" in docs/cluster.md.' }
  },

  async Migrations({ postgres, cluster }) {
    const pending = [
      ...(await pendingMigrations(postgres)),
      ...(await Promise.all(cluster.shards.flatMap(serversOf).map(pendingClickHouseMigrations))).flat(),
    ].filter((name) => columnsOf([name]).length === 0) // Footfall works without rewritten columns
    return pending.length === 0
      ? ok('both databases are up to date')
      : {
          state: 'failed',
          found: `${pending.length} to apply, starting with ${pending[0]}`,
          advice: 'Run: footfall migrate',
        }
  },

  Upgrade: ofEachServer(upgradeOf),

  Ledger: ledgerState,

  'Imported days': importedDaysState,

  async Clocks(context) {
    const clocks = await readClocks(context)
    const skews = [
      { name: 'PostgreSQL', ms: clocks.postgres - clocks.own },
      ...clocks.clickhouse.map((time, index) => ({
        name: serversIn(context)[index]?.name ?? '',
        ms: time - clocks.own,
      })),
    ]
    const off = skews.filter(({ ms }) => Math.abs(ms) > maxSkewMs)
    return off.length === 0
      ? ok(`within ${Math.max(...skews.map(({ ms }) => Math.abs(Math.round(ms))))} ms of each other`)
      : {
          state: 'warning',
          found: off.map(({ name, ms }) => `${name} is ${Math.round(ms)} ms off`).join(', '),
          advice: 'Synchronise every machine with a time server (chrony, systemd-timesyncd).',
        }
  },

  Disk: ofEachServer(async (clickhouse) => {
    const [row] = await clickhouse.rows<{ free: number; bytes: number; daily: number }>(sql`
      SELECT
        (SELECT min(unreserved_space) FROM system.disks) AS free,
        (SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase()) AS bytes,
        (SELECT sum(bytes_on_disk) / greatest(sum(rows), 1) FROM system.parts
         WHERE active AND database = currentDatabase() AND table = 'events')
        * (SELECT count() FROM events WHERE day BETWEEN today() - 7 AND today() - 1) / 7 AS daily`)
    const { free = 0, bytes = 0, daily = 0 } = row ?? {}
    const days = daily > 0 ? Math.floor(free / daily) : Number.POSITIVE_INFINITY
    const found = `${size(bytes)} used, ${size(free)} free, ${
      Number.isFinite(days)
        ? `enough for about ${days.toLocaleString('en')} days at last week's ${size(daily)} per day`
        : 'no traffic last week'
    }`
    return days < minDaysOfDisk
      ? { state: 'warning', found, advice: 'Give ClickHouse a larger disk, or set RETENTION_MONTHS.' }
      : ok(found)
  }),

  Recount: recountState,

  Mail: mailState,

  Backups: backupState,

  Proxy: proxyState,
}
