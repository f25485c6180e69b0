// Runs several API processes behind one port; each behaves like a process that runs alone. The supervisor replaces a process that ends.
// It also asks each process once per second whether it is alive and replaces a process that hangs, because it would keep getting connections.
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'

const askEveryMs = 1_000
const maxSilenceMs = 5_000
/** A process that ends sooner than this is replaced after the same time, so that a process that fails at once does not restart in a tight loop. */
const shortLifeMs = 1_000

export interface Processes {
  /** Lets every process keep answering for some seconds and then finish its running requests. */
  stop(drainSeconds: number): Promise<void>
}

export function superviseProcesses({ API_PROCESSES, METRICS_PORT }: Config, log: Logger): Processes {
  const lastSigns = new Map<Worker, number>()
  let stopping = false
  let hasStarted = false

  function start(index: number): void {
    const bornAt = performance.now()
    // Each process serves its own metrics: the first on METRICS_PORT, the others on the ports after it.
    const worker = cluster.fork({ METRICS_PORT: String(METRICS_PORT + index) })
    // A process is asked only once it listens, because starting may take long.
    worker.on('listening', ({ port }) => {
      if (port === METRICS_PORT + index) return
      lastSigns.set(worker, performance.now())
      if (!hasStarted) for (let other = 1; other < API_PROCESSES; other++) start(other)
      hasStarted = true
    })
    worker.on('message', () => lastSigns.set(worker, performance.now()))
    worker.once('exit', async (code, signal) => {
      lastSigns.delete(worker)
      if (stopping) return
      if (!hasStarted && code === 1) process.exit(1) // it has logged the reason, and the next process would fail the same way
      log.error({ code, signal, pid: worker.process.pid }, 'an API process ended; starting another')
      if (performance.now() - bornAt < shortLifeMs) await sleep(shortLifeMs)
      if (!stopping) start(index)
    })
  }

  const timer = setInterval(() => {
    for (const [worker, lastSign] of lastSigns) {
      if (performance.now() - lastSign > maxSilenceMs) worker.process.kill('SIGKILL')
      else worker.send('alive?', () => {}) // a failed send counts as silence
    }
  }, askEveryMs)
  start(0) // the others start when it listens, so a configuration error is reported only once

  return {
    async stop(drainSeconds) {
      stopping = true
      clearInterval(timer)
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
      const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
      for (const worker of workers) worker.process.kill(drainSeconds > 0 ? 'SIGTERM' : 'SIGINT')
      await Promise.all(ended)
    },
  }
}

/** Called by each worker: answers the supervisor's question whether it is alive. */
export const answerSupervisor = (): void => void process.on('message', () => process.send?.('alive'))
