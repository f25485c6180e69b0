// A process that restarts when a file changes. `node --watch` is no option: it makes every Node process below it report its imports over
// IPC, which the shipper uses to talk to the collector.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'

/** Editors write several files at once, and some files twice. */
const settleMs = 100
const maxStopMs = 10_000

export interface WatchedProcess {
  /** Stops the process gracefully and ends the watching. */
  stop(): Promise<void>
}

/** A process that exits by itself, as with a half-written file, waits for the next change. */
export function startWatched(
  folders: readonly string[],
  args: readonly string[],
  options: SpawnOptions & { cwd: string },
): WatchedProcess {
  let child = start()
  let restarting = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const watchers = folders.map((folder) =>
    watch(join(options.cwd, folder), { recursive: true }, (_event, file) => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        restarting = restarting.then(() => restart(join(folder, file ?? '')))
      }, settleMs)
    }),
  )

  function start(): ChildProcess {
    const started = spawn(process.execPath, args, options)
    const kill = () => void started.kill('SIGKILL')
    process.once('exit', kill) // it must not outlive this process
    return started.once('exit', (code) => {
      process.off('exit', kill)
      if (code) console.log(`Exited with ${code}. Waiting for a change …`)
    })
  }

  async function restart(changed: string): Promise<void> {
    console.log(`${changed} has changed: starting again …`)
    await end(child)
    child = start()
  }

  return {
    async stop() {
      for (const watcher of watchers) watcher.close()
      clearTimeout(timer)
      await restarting
      await end(child)
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM') // after Ctrl-C it has already had a SIGINT, and a second one would kill it
  const tooSlow = setTimeout(() => child.kill('SIGKILL'), maxStopMs)
  await ended
  clearTimeout(tooSlow)
}
