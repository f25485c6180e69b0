// Servers that a test may break: its own Redis and PostgreSQL, with their own ports and folders. The shared ones stay healthy.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from '../../dev/clickhouse/server.ts'

export interface OwnServer {
  url: string
  port: number
  folder: string
  /** Signals the process and its children. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGTERM' | 'SIGINT'): void
  isRunning(): boolean
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
  /** Starts it again with the same port and folder, unless it is running. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** Why PostgreSQL cannot be started here, or undefined when it can. */
export const postgresMissing = (): string | undefined =>
  folderOf('initdb')
    ? undefined
    : 'PostgreSQL is not installed on this machine (initdb is neither on PATH nor in /usr/lib/postgresql).'

export const redisMissing = (): string | undefined =>
  folderOf('redis-server') ? undefined : 'Redis is not installed on this machine (redis-server is not on PATH).'

/** Debian installs the PostgreSQL programs outside PATH. The newest installed version is used. */
function folderOf(program: string): string | undefined {
  const folders = [
    ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  return folders.find((folder) => existsSync(join(folder, program)))
}

export async function startOwnRedis(...options: string[]): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-redis-'))
  const port = await freePort()
  const fixed = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  return ownServer(`redis://127.0.0.1:${port}`, port, folder, () => spawn('redis-server', [...fixed, ...options]))
}

export const startOwnPostgres = (...options: string[]): Promise<OwnServer> => startPostgres(['--auth=trust'], options)

/** As distributions ship it: passwords over TCP, and on the socket, which is in its folder, only the user of the operating system. */
export const startUsualPostgres = (): Promise<OwnServer> =>
  startPostgres(['--auth-host=scram-sha-256', '--auth-local=peer'], [])

async function startPostgres(authentication: readonly string[], options: readonly string[]): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-postgres-'))
  const binaries = folderOf('initdb')
  if (!binaries) throw new Error(postgresMissing())
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  chmodSync(folder, 0o700)
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number)
  const data = join(folder, 'data')
  execFileSync(join(binaries, 'initdb'), ['-D', data, ...authentication, '-U', 'postgres', '--no-sync'], {
    ...user,
    cwd: folder,
    stdio: 'ignore',
  })
  const port = await freePort()
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    ...options,
  ]
  return ownServer(`postgres://postgres@127.0.0.1:${port}/postgres`, port, folder, () =>
    spawn(join(binaries, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
      ...user,
      cwd: folder,
    }),
  )
}

async function ownServer(url: string, port: number, folder: string, launch: () => ChildProcess): Promise<OwnServer> {
  let child: ChildProcess | undefined
  async function start() {
    if (isRunning()) return
    child = launch()
    child.stdout?.resume()
    child.stderr?.resume()
    await untilItListens(port, child)
  }
  /** A child of a killed PostgreSQL may live a moment longer, and PostgreSQL does not start beside it. */
  async function startAgain(attempts = 20): Promise<void> {
    try {
      await start()
    } catch (error) {
      if (attempts === 0 || isRunning()) throw error
      await new Promise((resolve) => setTimeout(resolve, 250))
      await startAgain(attempts - 1)
    }
  }
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  async function kill() {
    if (!isRunning()) return
    const ended = once(child as ChildProcess, 'exit')
    signal('SIGCONT')
    signal('SIGKILL')
    await ended
  }
  function signal(name: NodeJS.Signals) {
    const own = child?.pid as number
    for (const pid of [own, ...childrenOf(own)]) {
      try {
        process.kill(pid, name)
      } catch {
        // it has already exited
      }
    }
  }
  await start()
  const removeAtExit = () => child?.kill('SIGKILL')
  process.once('exit', removeAtExit)
  return {
    url,
    port,
    folder,
    signal,
    isRunning,
    kill,
    start: startAgain,
    async remove() {
      await kill()
      process.off('exit', removeAtExit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function childrenOf(pid: number): number[] {
  try {
    return execFileSync('pgrep', ['-P', `${pid}`], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number)
  } catch {
    return [] // pgrep exits with 1 when there are none
  }
}

async function untilItListens(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (child.exitCode !== null)
      throw new Error(`The server on port ${port} exited with ${child.exitCode} while it started`)
    const socket = createConnection({ port, host: '127.0.0.1' })
    const listens = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (listens) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`Nothing listens on port ${port} after 10 s`)
}

const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
