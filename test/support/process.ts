// Starts one of our processes as operators run it, with an environment, waits until it is ready, and stops it.

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { inherited } from './inherited.ts'

export interface StartedProcess {
  url: string
  pid: number
  child: ChildProcess
  /** Its log so far. */
  log(): string
  /** Sends SIGTERM and waits for the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export interface ProcessOptions {
  /** Its name in the error when it does not start. */
  name: string
  command: readonly string[]
  environment: Record<string, string | undefined>
  /** The port of its /readyz. */
  port: number
  stdout?: number
  /** How long a graceful shutdown may take. */
  maxStopMs: number
}

export interface LaunchedProcess extends StartedProcess {
  isRunning(): boolean
  /** Waits until it reports that it is ready for traffic. */
  untilReady(): Promise<void>
}

export async function startProcess(options: ProcessOptions): Promise<StartedProcess> {
  const launched = launchProcess(options)
  await launched.untilReady()
  return launched
}

/** Does not wait until it is ready: for a process that has to wait itself. */
export function launchProcess(options: ProcessOptions): LaunchedProcess {
  const { name, command, environment, port, maxStopMs } = options
  const stdio: StdioOptions = ['ignore', options.stdout ?? 'pipe', 'pipe']
  const child = spawn(command[0] as string, command.slice(1), {
    env: { ...inherited, ...environment },
    stdio,
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      log += chunk
    })
  }
  const ended = once(child, 'exit') as Promise<[number | null]>
  const removeAtExit = () => child.kill('SIGKILL')
  process.once('exit', removeAtExit)
  const url = `http://127.0.0.1:${port}`
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    url,
    pid: child.pid as number,
    child,
    isRunning,
    log: () => log,
    async untilReady() {
      for (let attempt = 0; ; attempt++) {
        const ready = await fetch(`${url}/readyz`).then(
          (response) => response.ok,
          () => false,
        )
        if (ready) return
        if (attempt > 1000 || !isRunning()) {
          removeAtExit()
          throw new Error(`The ${name} did not become ready:\n${log}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async stop() {
      process.off('exit', removeAtExit)
      child.kill('SIGTERM')
      const tooSlow = setTimeout(removeAtExit, maxStopMs)
      const [code] = await ended
      clearTimeout(tooSlow)
      return code
    },
    async kill() {
      process.off('exit', removeAtExit)
      child.kill('SIGKILL')
      await ended
    },
  }
}
