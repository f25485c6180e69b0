// What the check breaks, in this order, again and again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from '../../support/eventually.ts'
import { inherited } from '../../support/inherited.ts'
import type { Server, Servers } from './servers.ts'

export interface Outage {
  name: string
  /** The shard whose sites may get an error meanwhile. 0: none. */
  downShard: number
  begin(): Promise<unknown>
  end(): Promise<unknown>
}

const migrateMs = 90_000

export function outagesOf(
  { isReplicated, addresses, shards, keeper, createDatabase }: Servers,
  migrate: () => Promise<void>,
): Outage[] {
  const all = shards.flatMap((servers, index) => servers.map((server) => ({ server, shard: index + 1 })))
  const downIf = (shard: number) => (isReplicated ? 0 : shard)
  const killed = all.map(({ server, shard }) => killing(server, downIf(shard)))
  const stopped = all.map(({ server, shard }) => ({
    name: `${server.name} stopped`,
    downShard: downIf(shard),
    begin: server.stop,
    end: server.resume,
  }))
  if (!isReplicated) return [...killed, ...stopped]
  const [first] = all as [(typeof all)[number]]
  const wiped: Outage = {
    name: `${first.server.name} wiped`,
    downShard: 0,
    begin: () => first.server.wipe?.() ?? Promise.resolve(),
    async end() {
      await first.server.start()
      await createDatabase(addresses[0]?.[0] as string)
      await eventually(migrate, migrateMs)
    },
  }
  const whole: Outage = {
    name: 'shard 1 killed',
    downShard: 1,
    begin: () => Promise.all((shards[0] ?? []).map((server) => server.kill())),
    end: () => Promise.all((shards[0] ?? []).map((server) => server.start())),
  }
  return [...killed, ...stopped, wiped, ...(keeper ? [killing(keeper, 0)] : []), whole]
}

const killing = (server: Server, downShard: number): Outage => ({
  name: `${server.name} killed`,
  downShard,
  begin: server.kill,
  end: server.start,
})

const main = new URL('../../../src/cli/main.ts', import.meta.url).pathname

/** `footfall migrate`, which gives a wiped server its tables. */
export async function migrateWith(environment: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [main, 'migrate'], {
    env: { ...process.env, ...inherited, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`footfall migrate: ${errors}`)
}
