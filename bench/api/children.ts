// Processes beside the API. They end with this process, even when it fails.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { BareAnswer } from './bare-server.ts'
import type { Load } from './load.ts'

const start = (file: string): ChildProcess => {
  const child = fork(new URL(file, import.meta.url))
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

export async function startBareServer(answer: BareAnswer) {
  const child = start('bare-server.ts')
  child.send(answer)
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, pid: child.pid as number, stop: () => void child.kill('SIGKILL') }
}

export function startLoad() {
  const child = start('load.ts')
  return {
    async run(load: Load): Promise<void> {
      child.send(load)
      const [{ error }] = (await once(child, 'message')) as [{ error?: string }]
      if (error) throw new Error(`The load failed: ${error}`)
    },
    stop: () => void child.kill('SIGKILL'),
  }
}
