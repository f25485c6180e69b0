// Runs in the collector process: starts the shipper process (main.ts) and restarts it when it ends. The shipper is a process of its own,
// so that neither its work nor its crash delays a hit.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { ShipperMessage } from './shipper.ts'

export interface ShipperProcess {
  /** Lets the shipper ship the rest, if ClickHouse accepts it, and ends it. */
  stop(): Promise<void>
}

const restartMs = 500
const maxStopMs = 6_000

export function startShipper(
  onMessage: (message: ShipperMessage) => void,
  onStart: (pid: number) => void,
): ShipperProcess {
  let child: ChildProcess
  let stopping = false
  let timer: NodeJS.Timeout | undefined

  function start(): void {
    child = fork(new URL('main.ts', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    onStart(child.pid as number)
    child.on('message', (message) => onMessage(message as ShipperMessage))
    child.once('exit', (code, signal) => {
      if (stopping) return
      onMessage({ is: 'state', of: 'shipping', cause: `The shipper ended (${signal ?? code})` })
      timer = setTimeout(start, restartMs)
    })
  }

  start()
  return {
    async stop() {
      stopping = true
      clearTimeout(timer)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.send('end', () => {}) // it may just have ended
      const tooSlow = setTimeout(() => child.kill('SIGKILL'), maxStopMs)
      await ended
      clearTimeout(tooSlow)
    },
  }
}
