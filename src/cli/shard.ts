import { migrate, pendingClickHouseMigrations, useShards } from '../cluster/migrate.ts'
import { lagOf, replicasInKeeper } from '../cluster/replica-lag.ts'
import { dropFromAllTables } from '../cluster/replicated-tables.ts'
import { listCollectors } from '../moving/collectors.ts'
import { unfinishedMoves } from '../moving/moves.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import { type Command, CommandError, type Context, positionals } from './command.ts'
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
  /** The disk with the least free space. */
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
    const states = await Promise.all(
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
    const configured = new Set(states.map(({ shard }) => shard))
    const missing = [...sites.keys()].filter((shard) => !configured.has(shard))
    const unused = await unusedShards(context)
    const moves = await unfinishedMoves(context.postgres)
    return {
      data: { servers: states, unused: unused.map(({ shard }) => shard), moves },
      exitCode: missing.length > 0 || states.some(({ events }) => events === null) ? 1 : 0,
      show: (terminal) =>
        [
          terminal.table(
            ['Shard', ...(areReplicated ? ['Replica', 'Behind'] : []), 'Sites', 'Events', 'Used', 'Disk'],
            states.map((one) => rowOf(one, terminal, areReplicated)),
          ),
          ...missing.map((shard) => `\nShard ${shard} is not in CLICKHOUSE_SHARDS and has sites: ${sites.get(shard)}.`),
          ...unused.map(({ shard }) => `\nShard ${shard} gets no sites yet. To use it: footfall shard add`),
          ...moves.map(
            ({ domain, to, isRunning }) =>
              `\n${domain} is being moved to shard ${to}${isRunning ? '.' : `, and nothing works on it. To continue: footfall site move ${domain} ${to}`}`,
          ),
        ].join('\n'),
    }
  },
}

const add: Command = {
  summary: 'Create the tables of shards that were appended to CLICKHOUSE_SHARDS, and use them for new sites',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    const { postgres, cluster } = context
    const added = await unusedShards(context)
    const late = (await listCollectors(postgres)).filter(({ shards }) => shards < cluster.shards.length)
    if (added.length > 0 && late.length > 0)
      throw new CommandError(
        `Not every collector knows the new shard: ${late.map(({ id, host }) => `${id} on ${host}`).join(', ')}.`,
        'Restart all processes of Footfall with the new CLICKHOUSE_SHARDS first. If a collector is gone for good: footfall collector forget <id>',
      )
    await migrate(context)
    for (const server of added.flatMap(serversOf)) {
      if ((await pendingClickHouseMigrations(server)).length > 0)
        throw new CommandError(`A server of shard ${server.shard} has no tables.`, 'Run: footfall doctor')
    }
    await useShards(postgres, added)
    const numbers = added.map(({ shard }) => shard)
    return {
      data: { added: numbers },
      show: () =>
        numbers.length === 0
          ? 'Every shard of CLICKHOUSE_SHARDS is in use.'
          : `Added shard ${numbers.join(', ')}. New sites go where most of the disk is free; to move one there: footfall site move <site> ${numbers[0]}`,
    }
  },
}

const dropReplica: Command = {
  summary: 'Take out a replica whose server is gone for good, so that days are rolled up without it',
  usage: '<shard> <replica>',
  examples: ['footfall shard drop-replica 1 b'],
  async run(input, { cluster }) {
    const [number, name] = positionals(input, ['shard', 'replica']) as [string, string]
    const servers = cluster.shards.filter((one) => `${one.shard}` === number).flatMap(serversOf)
    if (servers.length === 0)
      throw new CommandError(`There is no shard ${number}.`, 'See them all with: footfall shard status')
    const lists = await Promise.all(servers.map((server) => replicasInKeeper(server).catch(() => new Map())))
    const live = lists.findIndex(({ size }) => size > 0) // a replica that was taken out before lists none
    const replicas: ReadonlyMap<string, boolean> = lists[live] ?? new Map()
    if (!replicas.has(name))
      throw new CommandError(
        `Shard ${number} has no replica ${name}.`,
        replicas.size === 0
          ? 'None of its servers answers, or it has one server only. Run: footfall doctor'
          : `Its replicas, by their FOOTFALL_REPLICA: ${[...replicas.keys()].sort().join(', ')}`,
      )
    if (replicas.get(name))
      throw new CommandError(
        `Replica ${name} of shard ${number} is connected to Keeper.`,
        'Stop its server for good and wait half a minute.',
      )
    await dropFromAllTables(servers[live] as ClickHouse, name)
    return {
      data: { shard: Number(number), dropped: name },
      show: () =>
        `Took out replica ${name}. Remove its address from CLICKHOUSE_SHARDS and restart every process of Footfall.`,
    }
  },
}

async function unusedShards({ postgres, cluster }: Context): Promise<ClickHouse[]> {
  const used = await postgres<{ number: number }[]>`SELECT number FROM shards`
  return cluster.shards.filter(({ shard }) => !used.some(({ number }) => number === shard))
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

export const shard = { status, add, 'drop-replica': dropReplica }
