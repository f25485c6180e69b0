// Real ClickHouse servers for tests, benchmarks and development, from npm and without root (Linux x64; elsewhere use a container).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ClickHouseServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly folder: string
  /** Ends the engine and waits for it; the data stays when the folder was given. */
  stop(): Promise<void>
  /** kill -9, as a crash. `start({ folder, port })` afterwards recovers it. */
  kill(): Promise<void>
}

export interface ClickHouseServerOptions {
  /** Where data and log live; without it a temporary folder, removed by stop(). */
  folder?: string
  port?: number
  /** What ClickHouse may take in all, in bytes; without it, half of the machine (deploy/clickhouse). */
  memory?: number
  /** Without the settings of deploy/clickhouse: what an installation has that nobody configured. */
  stock?: boolean
}

/** The settings that operators are given are the ones that everything here runs with. */
const deployed = new URL('../../deploy/clickhouse/', import.meta.url)

const startDeadlineMs = 20_000

export async function startClickHouse(options: ClickHouseServerOptions = {}): Promise<ClickHouseServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'footfall-clickhouse-'))
  const port = options.port ?? (await freePort())
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.xml'), serverConfig(port, await freePort(), folder, options.memory))
  if (!options.stock) cpSync(deployed, folder, { recursive: true })
  writeFileSync(join(folder, 'users.xml'), usersConfig)

  const log = openSync(join(folder, 'server.log'), 'a')
  const engine = spawn(
    process.execPath,
    [
      '--experimental-ffi',
      '--disable-warning=ExperimentalWarning',
      new URL('engine.ts', import.meta.url).pathname,
      `--config-file=${join(folder, 'config.xml')}`,
      `--path=${join(folder, 'data')}`,
      '--log-level=warning',
      '--query',
      'SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; SELECT * FROM file(stdin, LineAsString) FORMAT Null',
    ],
    { stdio: ['pipe', log, log] },
  )
  await untilItAnswers(engine, port, folder)

  const ended = once(engine, 'exit')
  const server: ClickHouseServer = {
    url: `http://footfall:footfall@127.0.0.1:${port}`,
    port,
    pid: engine.pid as number,
    folder,
    async stop() {
      if (options.folder) engine.stdin?.end()
      else engine.kill('SIGKILL') // nothing to keep: an orderly end takes 5 s
      const tooSlow = setTimeout(() => engine.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(tooSlow)
      if (!options.folder) rmSync(folder, { recursive: true, force: true })
    },
    async kill() {
      engine.kill('SIGKILL')
      await ended
    },
  }
  return server
}

async function untilItAnswers(engine: ChildProcess, port: number, folder: string): Promise<void> {
  const deadline = Date.now() + startDeadlineMs
  while (Date.now() < deadline) {
    if (engine.exitCode !== null || engine.signalCode !== null) break
    const answered = await fetch(`http://127.0.0.1:${port}/ping`).then(
      (response) => response.ok,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  engine.kill('SIGKILL')
  throw new Error(`ClickHouse did not start on port ${port}; its log is ${join(folder, 'server.log')}`)
}

/** Below 32768, so that the kernel never hands the port to an outgoing connection in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const probe = createServer()
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
}

const serverConfig = (httpPort: number, tcpPort: number, folder: string, memory = 0) => `<clickhouse>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${httpPort}</http_port>
  <tcp_port>${tcpPort}</tcp_port>
  <users_config>${join(folder, 'users.xml')}</users_config>
  <max_server_memory_usage>${memory}</max_server_memory_usage>
</clickhouse>
`

// `default` is the engine's own login and must stay without password: it may do nothing but listen and read its standard input.
// `footfall` owns the data; `footfall_reader` is what an API process needs and no more (docs/operations.md).
const usersConfig = `<clickhouse>
  <profiles>
    <default/>
    <reader>
      <readonly>2</readonly>
      <cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close>
      <max_execution_time>5</max_execution_time>
      <max_memory_usage>1073741824</max_memory_usage>
      <constraints>
        <max_execution_time><max>5</max></max_execution_time>
        <max_memory_usage><max>1073741824</max></max_memory_usage>
      </constraints>
    </reader>
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
    <footfall_reader>
      <password>footfall</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>reader</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SELECT ON *.*</query>
      </grants>
    </footfall_reader>
  </users>
</clickhouse>
`
