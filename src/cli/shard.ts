import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import { type Command, type Context, positionals } from './command.ts'
import { size } from './size.ts'
import type { Terminal } from './terminal.ts'

interface Shard {
  shard: number
  sites: number
  /** Null: it does not answer. */
  events: number | null
  bytes: number | null
  /** Of the disk that has the least free space. */
  disk: { free: number; total: number } | null
}

const status: Command = {
  summary: 'Show the sites, events and disk of each shard of ClickHouse',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    const sites = await sitesByShard(context)
    const found = await Promise.all(
      context.cluster.shards.map(
        async (clickhouse): Promise<Shard> => ({
          shard: clickhouse.shard,
          sites: sites.get(clickhouse.shard) ?? 0,
          ...(await traffic(clickhouse).catch(() => ({ events: null, bytes: null, disk: null }))),
        }),
      ),
    )
    const known = new Set(found.map(({ shard }) => shard))
    const missing = [...sites.keys()].filter((shard) => !known.has(shard))
    return {
      data: found,
      exitCode: missing.length > 0 || found.some(({ events }) => events === null) ? 1 : 0,
      show: (terminal) =>
        [
          terminal.table(
            ['Shard', 'Sites', 'Events', 'Used', 'Disk'],
            found.map((one) => rowOf(one, terminal)),
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

async function traffic(clickhouse: ClickHouse): Promise<Pick<Shard, 'events' | 'bytes' | 'disk'>> {
  const [row] = await clickhouse.rows<{ events: number; bytes: number; free: number; total: number }>(sql`
    SELECT sumIf(rows, table = 'events') AS events, sum(bytes_on_disk) AS bytes,
      (SELECT argMin((unreserved_space, total_space), unreserved_space / greatest(total_space, 1)) FROM system.disks) AS disk,
      disk.1 AS free, disk.2 AS total
    FROM system.parts WHERE active AND database = currentDatabase()`)
  const { events = 0, bytes = 0, free = 0, total = 0 } = row ?? {}
  return { events, bytes, disk: { free, total } }
}

const barLength = 20

function rowOf({ shard, sites, events, bytes, disk }: Shard, terminal: Terminal): string[] {
  const count = (value: number) => value.toLocaleString('en')
  if (events === null || bytes === null || disk === null)
    return [`${shard}`, count(sites), terminal.bad('does not answer'), '', '']
  const used = disk.total > 0 ? 1 - disk.free / disk.total : 0
  const filled = Math.round(used * barLength)
  const bar = '█'.repeat(filled) + terminal.dim('░'.repeat(barLength - filled))
  return [`${shard}`, count(sites), count(events), size(bytes), `${bar} ${size(disk.free)} free of ${size(disk.total)}`]
}

export const shard = { status }
