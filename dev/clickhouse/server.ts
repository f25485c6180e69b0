// Real ClickHouse servers for tests, benchmarks and development, from npm and without root. npm has them for the platforms of library.ts;
// elsewhere compose.dev.yaml starts one in a container.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { libraryMissingHere } from './library.ts'

export interface ClickHouseServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly folder: string
  /** Stops ClickHouse and waits for its exit. The data stays if the folder was given. */
  stop(): Promise<void>
  /** Sends SIGKILL, like a crash. `start({ folder, port })` afterwards recovers it. */
  kill(): Promise<void>
}

export interface ClickHouseServerOptions {
  /** The folder for data and log; by default a temporary folder that stop() removes. */
  folder?: string
  port?: number
  /** The memory limit of ClickHouse in bytes; by default half of the machine (deploy/clickhouse). */
  memory?: number
  /** Without the settings of deploy/clickhouse, like an unconfigured installation. */
  stock?: boolean
  /** Users besides the owner of the data, and the environment that their file needs; by default reader.xml. */
  users?: { file: URL; environment: Record<string, string> }
  /** Files of config.d besides those of deploy/clickhouse, by name, and the environment that they need. */
  config?: { files: Record<string, string>; environment: Record<string, string> }
}

/** Everything here runs with the settings that operators get. */
const deployed = new URL('../../deploy/clickhouse/', import.meta.url)

const startDeadlineMs = 60_000

/** Why no server can be started here, or undefined when one can. */
export const clickhouseMissing = libraryMissingHere

export async function startClickHouse(options: ClickHouseServerOptions = {}): Promise<ClickHouseServer> {
  const missing = clickhouseMissing()
  if (missing) throw new Error(`${missing} Set CLICKHOUSE_URL: compose.dev.yaml starts one.`)
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'footfall-clickhouse-'))
  const port = options.port ?? (await freePort())
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.xml'), serverConfig(port, await freePort(), folder, options.memory))
  if (!options.stock) cpSync(deployed, folder, { recursive: true })
  const { files = {} } = options.config ?? {}
  for (const [name, xml] of Object.entries(files)) writeFileSync(join(folder, 'config.d', name), xml)
  const { file: users = new URL('reader.xml', import.meta.url) } = options.users ?? {}
  cpSync(users, join(folder, 'users.d/more-users.xml'))
  writeFileSync(join(folder, 'users.xml'), usersConfig)

  const log = openSync(join(folder, 'server.log'), 'a')
  const clickhouseServer = spawn(
    process.execPath,
    [
      '--experimental-ffi',
      '--disable-warning=ExperimentalWarning',
      new URL('chdb-server.ts', import.meta.url).pathname,
      `--config-file=${join(folder, 'config.xml')}`,
      `--path=${join(folder, 'data')}`,
      '--log-level=warning',
      '--query',
      // HTTP last: when it answers, nothing is left to open.
      'SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; SELECT * FROM file(stdin, LineAsString) FORMAT Null',
    ],
    {
      stdio: ['pipe', log, log],
      env: { ...process.env, ...options.users?.environment, ...options.config?.environment },
    },
  )
  await untilItAnswers(clickhouseServer, port, folder)

  const ended = once(clickhouseServer, 'exit')
  const server: ClickHouseServer = {
    url: `http://footfall:footfall@127.0.0.1:${port}`,
    port,
    pid: clickhouseServer.pid as number,
    folder,
    async stop() {
      if (options.folder) clickhouseServer.stdin?.end()
      else clickhouseServer.kill('SIGKILL') // no data to keep: a graceful shutdown takes 5 s
      const tooSlow = setTimeout(() => clickhouseServer.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(tooSlow)
      if (!options.folder) rmSync(folder, { recursive: true, force: true })
    },
    async kill() {
      clickhouseServer.kill('SIGKILL')
      await ended
    },
  }
  return server
}

async function untilItAnswers(clickhouseServer: ChildProcess, port: number, folder: string): Promise<void> {
  const deadline = Date.now() + startDeadlineMs
  while (Date.now() < deadline) {
    if (clickhouseServer.exitCode !== null || clickhouseServer.signalCode !== null) break
    const answered = await fetch(`http://127.0.0.1:${port}/ping`).then(
      (response) => response.ok,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  clickhouseServer.kill('SIGKILL')
  throw new Error(`ClickHouse did not start on port ${port}; its log is ${join(folder, 'server.log')}`)
}

/** Below 32768, so that the kernel never gives the port to an outgoing connection in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    // Above 10,080, the last port that fetch refuses.
    const port = 11_000 + Math.floor(Math.random() * 19_000)
    const probe = createServer()
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
}

// `BACKUP … TO File('name')` and RESTORE use <folder>/backups/name.
const serverConfig = (httpPort: number, tcpPort: number, folder: string, memory = 0) => `<clickhouse>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${httpPort}</http_port>
  <tcp_port>${tcpPort}</tcp_port>
  <users_config>${join(folder, 'users.xml')}</users_config>
  <max_server_memory_usage>${memory}</max_server_memory_usage>
  <backups><allowed_path>${join(folder, 'backups/')}</allowed_path></backups>
</clickhouse>
`

// `default` is ClickHouse's own login and must have no password: it may only listen and read its standard input. `footfall` owns the
// data; `footfall_reader`, in reader.xml, may only read it.
const usersConfig = `<clickhouse>
  <profiles>
    <default/>
  </profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT FILE ON *.*</query>
        <query>GRANT CREATE TEMPORARY TABLE ON *.*</query>
      </grants>
    </default>
    <footfall>
      <password>footfall</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </footfall>
  </users>
</clickhouse>
`
