import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import { lagOf } from '../stores/replica-lag.ts'
import { type Command, type Context, positionals } from './command.ts'
import { size } from './size.ts'
import type { Terminal } from './terminal.ts'

interface Server {
  shard: number
  /** Counted from 1. */
  replica: number
  sites: number
  /** Null: it does not answer. */
  events: number | null
  bytes: number | null
  /** Of the disk that has the least free space. */
  disk: { free: number; total: number } | null
  /** Seconds that it is behind the other replicas. Null: there are none. */
  lag: number | null
}

const status: Command = {
  summary: 'Show the sites, events and disk of each shard of ClickHouse',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    const sites = await sitesByShard(context)
    const servers = context.cluster.shards.flatMap((clickhouse) =>
      serversOf(clickhouse).map((server, index) => ({ server, replica: index + 1, isReplica: !!clickhouse.replicas })),
    )
    const found = await Promise.all(
      servers.map(
        async ({ server, replica, isReplica }): Promise<Server> => ({
          shard: server.shard,
          replica,
          sites: sites.get(server.shard) ?? 0,
          ...(await traffic(server).catch(() => ({ events: null, bytes: null, disk: null }))),
          lag: isReplica ? await lagOf(server).catch(() => null) : null,
        }),
      ),
    )
    const areReplicated = servers.some(({ isReplica }) => isReplica)
    const known = new Set(found.map(({ shard }) => shard))
    const missing = [...sites.keys()].filter((shard) => !known.has(shard))
    return {
      data: found,
      exitCode: missing.length > 0 || found.some(({ events }) => events === null) ? 1 : 0,
      show: (terminal) =>
        [
          terminal.table(
            ['Shard', ...(areReplicated ? ['Replica', 'Behind'] : []), 'Sites', 'Events', 'Used', 'Disk'],
            found.map((one) => rowOf(one, terminal, areReplicated)),
          ),
          ...missing.map((shard) => `\nShard ${shard} is not in CLICKHOUSE_SHARDS and has sites: ${sites.get(shard)}.`),
        ].join('\n'),
    }
  },
}

async function sitesByShard({ postgres }: Context): Promise<Map<number, number>> {
  const rows = await postgres<{ shard: number; sites: number }[]>`
    SELECT shard, count(*)::int AS sites FROM sites GROUP BY shard`
  return new Map(rows.map(({ shard, sites }) => [shard, sites]))
}

async function traffic(clickhouse: ClickHouse): Promise<Pick<Server, 'events' | 'bytes' | 'disk'>> {
  const [row] = await clickhouse.rows<{ events: number; bytes: number; free: number; total: number }>(sql`
    SELECT sumIf(rows, table = 'events') AS events, sum(bytes_on_disk) AS bytes,
      (SELECT argMin((unreserved_space, total_space), unreserved_space / greatest(total_space, 1)) FROM system.disks) AS disk,
      disk.1 AS free, disk.2 AS total
    FROM system.parts WHERE active AND database = currentDatabase()`)
  const { events = 0, bytes = 0, free = 0, total = 0 } = row ?? {}
  return { events, bytes, disk: { free, total } }
}

const barLength = 20

function rowOf(server: Server, terminal: Terminal, areReplicated: boolean): string[] {
  const { shard, replica, sites, events, bytes, disk, lag } = server
  const count = (value: number) => value.toLocaleString('en')
  const behind = lag === null ? '' : `${count(lag)} s`
  const names = areReplicated ? [`${shard}`, `${replica}`, behind] : [`${shard}`]
  if (events === null || bytes === null || disk === null)
    return [...names, count(sites), terminal.bad('does not answer'), '', '']
  const used = disk.total > 0 ? 1 - disk.free / disk.total : 0
  const filled = Math.round(used * barLength)
  const bar = '█'.repeat(filled) + terminal.dim('░'.repeat(barLength - filled))
  return [...names, count(sites), count(events), size(bytes), `${bar} ${size(disk.free)} free of ${size(disk.total)}`]
}

export const shard = { status }
