// ZooKeeper for replicated ClickHouse servers, from the Debian packages that .ci/steps installs. It speaks the protocol of Keeper, which
// is not in the ClickHouse from npm.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

/** The first one names the jars that it needs; the other one writes the log to standard error. */
const jars = ['/usr/share/java/zookeeper.jar', '/usr/share/java/slf4j-simple.jar']
const startDeadlineMs = 60_000

/** Why ZooKeeper cannot be started here, or undefined when it can. */
export const zookeeperMissing = (): string | undefined =>
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'Replicas need the ClickHouse for Linux x64, whose addresses are known (dev/clickhouse/interserver.ts).'
    : jars.every((jar) => existsSync(jar))
      ? undefined
      : 'ZooKeeper is not installed on this machine (apt-get install default-jre-headless libzookeeper-java).'

export async function startZooKeeper(folder: string, port: number): Promise<ChildProcess> {
  const missing = zookeeperMissing()
  if (missing) throw new Error(missing)
  mkdirSync(folder, { recursive: true })
  const settings = join(folder, 'zookeeper.cfg')
  writeFileSync(settings, zookeeperSettings(folder, port))
  const log = openSync(join(folder, 'server.log'), 'a')
  // Java does not notice the end of its parent, so the kernel kills it then.
  const zookeeper = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', 'java', '-Xmx128m', '-XX:+UseSerialGC', '-XX:-UsePerfData'],
      ...['-cp', jars.join(':'), 'org.apache.zookeeper.server.quorum.QuorumPeerMain', settings],
    ],
    { stdio: ['ignore', log, log] },
  )
  const deadline = Date.now() + startDeadlineMs
  while (zookeeper.exitCode === null && zookeeper.signalCode === null && Date.now() < deadline) {
    if (await serves(port)) return zookeeper
    await pause(50)
  }
  zookeeper.kill('SIGKILL')
  throw new Error(`ZooKeeper did not start on port ${port}; its log is ${join(folder, 'server.log')}`)
}

async function serves(port: number): Promise<boolean> {
  const connection = createConnection(port, '127.0.0.1').setTimeout(1_000, () => connection.destroy())
  connection.end('srvr')
  return text(connection).then(
    (answer) => answer.includes('Mode: standalone'),
    () => false,
  )
}

// A session lasts 20 ticks at most; deploy/clickhouse/replicated asks for 10 s.
const zookeeperSettings = (folder: string, port: number) => `dataDir=${join(folder, 'data')}
clientPort=${port}
clientPortAddress=127.0.0.1
tickTime=500
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr
`
