// Keeps a shipper running beside the collector: in a process of its own, so that what it costs and how it ends never touches a hit.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { ShipperNews } from './shipper/main.ts'

export interface Shipper {
  /** Ships what is there, if the engine takes it, and ends. */
  stop(): Promise<void>
}

const restartMs = 500
const longestStopMs = 6_000

export function startShipper(onNews: (news: ShipperNews) => void, onStart: (pid: number) => void): Shipper {
  let child: ChildProcess
  let stopping = false
  let timer: NodeJS.Timeout | undefined

  function start(): void {
    child = fork(new URL('shipper/main.ts', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    onStart(child.pid as number)
    child.on('message', (news) => onNews(news as ShipperNews))
    child.once('exit', (code, signal) => {
      if (stopping) return
      onNews({ is: 'state', of: 'shipping', cause: `The shipper ended (${signal ?? code})` })
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
      child.kill('SIGTERM')
      const tooSlow = setTimeout(() => child.kill('SIGKILL'), longestStopMs)
      await ended
      clearTimeout(tooSlow)
    },
  }
}
