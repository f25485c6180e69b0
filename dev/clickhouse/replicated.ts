// Shards with replicas on this machine, each server with its own folder, and one ZooKeeper for all. Each can be broken like a machine.
//
// BACKUP on one replica has the rows of its shard. RESTORE refuses a table that has rows on any replica, because ZooKeeper still knows them:
// `DROP DATABASE … SYNC` on every replica comes first. Then RESTORE on one of them; the others get empty tables, from `footfall migrate` or
// RESTORE with `structure_only = 1`, and fetch the rows.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveReplicas } from './interserver.ts'
import { type ClickHouseServer, freePort, startClickHouse } from './server.ts'
import { startZooKeeper } from './zookeeper.ts'

interface BreakableServer {
  name: string
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
  /** Starts it again with the same port and data, unless it is running. Resolves when it serves. */
  start(): Promise<void>
  /** Sends SIGSTOP. */
  stop(): Promise<void>
  /** Sends SIGCONT. */
  resume(): Promise<void>
  /** Kills it and empties its disk. A ClickHouse keeps its backups. */
  wipe(): Promise<void>
}

interface ReplicatedClickHouse {
  shards: (BreakableServer & { url: string })[][]
  zookeeper: BreakableServer
  /** Ends all servers and removes their folders. They also end with this process, except one that is stopped when it is killed. */
  remove(): Promise<void>
}

/** Clients use 127.0.0.1. */
const replicasHost = '127.0.0.2'

export async function startReplicatedClickHouse(counts: {
  shards: number
  replicas: number
}): Promise<ReplicatedClickHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-replicated-'))
  const all: (BreakableServer & { killNow(): void })[] = []
  const killAtExit = () => {
    for (const server of all) server.killNow()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', killAtExit)
  async function remove(): Promise<void> {
    await Promise.all(all.map((server) => server.kill()))
    process.off('exit', killAtExit)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const zookeeperPort = await freePort()
    const zookeeper = breakable('zookeeper', join(folder, 'zookeeper'), async (home) => {
      const server = await startZooKeeper(home, zookeeperPort)
      const ended = once(server, 'exit')
      return {
        pid: server.pid as number,
        async kill() {
          server.kill('SIGKILL')
          await ended
        },
      }
    })
    all.push(zookeeper)
    await zookeeper.start()
    const shards = await Promise.all(
      Array.from({ length: counts.shards }, (_, shard) =>
        Promise.all(
          Array.from({ length: counts.replicas }, async (_, replica) => {
            const name = `s${shard + 1}r${replica + 1}`
            const port = await freePort()
            const server = breakable(name, join(folder, name), (home) =>
              startReplica(home, port, zookeeperPort, { name, shard: shard + 1, replica: replica + 1 }),
            )
            all.push(server)
            await server.start()
            return { ...server, url: `http://footfall:footfall@127.0.0.1:${port}` }
          }),
        ),
      ),
    )
    return { shards, zookeeper, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function breakable(
  name: string,
  folder: string,
  launch: (folder: string) => Promise<Pick<ClickHouseServer, 'pid' | 'kill'>>,
): BreakableServer & { killNow(): void } {
  let running: Pick<ClickHouseServer, 'pid' | 'kill'> | undefined
  async function kill(): Promise<void> {
    const server = running
    running = undefined
    await server?.kill()
  }
  const signal = (word: NodeJS.Signals) => void (running && process.kill(running.pid, word))
  return {
    name,
    kill,
    killNow: () => signal('SIGKILL'),
    async start() {
      running ??= await launch(folder)
    },
    stop: async () => signal('SIGSTOP'),
    resume: async () => signal('SIGCONT'),
    async wipe() {
      await kill()
      rmSync(join(folder, 'data'), { recursive: true, force: true })
    },
  }
}

interface Place {
  name: string
  shard: number
  replica: number
}

async function startReplica(
  folder: string,
  port: number,
  zookeeperPort: number,
  place: Place,
): Promise<ClickHouseServer> {
  // `SYSTEM START LISTEN HTTP` opens every address that is not open yet. This one is in use the first time, and free the second time,
  // when the listener is to serve replicas. Those that are up try to fetch from it all the time.
  const holder = createServer((connection) => connection.destroy()).listen(port, replicasHost)
  await once(holder, 'listening')
  const release = () => new Promise((resolve) => holder.close(resolve))
  const server = await startClickHouse({ folder, port, config: replicaConfig(zookeeperPort, place) }).finally(release)
  try {
    await serveReplicas(server.pid, replicasHost, port, async () => {
      const response = await fetch(server.url.replace('footfall:footfall@', ''), {
        method: 'POST',
        body: 'SYSTEM START LISTEN HTTP',
      })
      if (!response.ok) throw new Error(await response.text())
    })
  } catch (error) {
    await server.kill()
    throw error
  }
  return server
}

const replicated = new URL('../../deploy/clickhouse/replicated/replicated.xml', import.meta.url)

const replicaConfig = (zookeeperPort: number, { name, shard, replica }: Place) => ({
  files: { 'replicated.xml': readFileSync(replicated, 'utf8'), 'this-machine.xml': onThisMachine(zookeeperPort, name) },
  environment: { FOOTFALL_SHARD: `${shard}`, FOOTFALL_REPLICA: `r${replica}`, FOOTFALL_HOST: replicasHost },
})

// `clickhouse local` has no UUID of its own, by which servers would register in ZooKeeper, so each has its own path for that. Its pools
// of threads are so small that a table which waits for ZooKeeper holds up all others; clickhouse-server has larger ones.
const onThisMachine = (zookeeperPort: number, name: string) => `<clickhouse>
  <listen_host>${replicasHost}</listen_host>
  <listen_host>127.0.0.1</listen_host>
  <listen_try>1</listen_try>
  <background_schedule_pool_size>32</background_schedule_pool_size>
  <background_fetches_pool_size>4</background_fetches_pool_size>
  <zookeeper replace="replace">
    <node><host>127.0.0.1</host><port>${zookeeperPort}</port></node>
    <session_timeout_ms>10000</session_timeout_ms>
    <sessions_path>/clickhouse/sessions/${name}</sessions_path>
  </zookeeper>
</clickhouse>
`
