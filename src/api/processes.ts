// Several API processes behind one port, each as good as one that runs alone. One that ends is replaced at once; one that hangs is
// found by asking each once a second, and replaced, because connections would be handed to it for ever (decision D-126).
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'

const askEveryMs = 1_000
const longestSilenceMs = 5_000
/** One that did not live even that long is replaced only after as long: what fails at once would fail without end. */
const shortLifeMs = 1_000

export interface Processes {
  /** Lets every process finish what it is answering, after it has gone on for some seconds. */
  stop(drainSeconds: number): Promise<void>
}

export function superviseProcesses({ API_PROCESSES, METRICS_PORT }: Config, log: Logger): Processes {
  const lastSigns = new Map<Worker, number>()
  let stopping = false
  let hasStarted = false

  function start(place: number): void {
    const bornAt = performance.now()
    // Each has metrics of its own, on the ports from METRICS_PORT on.
    const worker = cluster.fork({ METRICS_PORT: String(METRICS_PORT + place) })
    // Only who has begun to listen is asked: starting may take its time.
    worker.on('listening', ({ port }) => {
      if (port === METRICS_PORT + place) return
      lastSigns.set(worker, performance.now())
      if (!hasStarted) for (let other = 1; other < API_PROCESSES; other++) start(other)
      hasStarted = true
    })
    worker.on('message', () => lastSigns.set(worker, performance.now()))
    worker.once('exit', async (code, signal) => {
      lastSigns.delete(worker)
      if (stopping) return
      if (!hasStarted && code === 1) process.exit(1) // it has said why, and the next one would say the same
      log.error({ code, signal, pid: worker.process.pid }, 'an API process ended and is replaced')
      if (performance.now() - bornAt < shortLifeMs) await sleep(shortLifeMs)
      if (!stopping) start(place)
    })
  }

  const timer = setInterval(() => {
    for (const [worker, lastSign] of lastSigns) {
      if (performance.now() - lastSign > longestSilenceMs) worker.process.kill('SIGKILL')
      else worker.send('alive?', () => {}) // what cannot be sent is not answered either
    }
  }, askEveryMs)
  start(0) // the others when it listens: what is wrong with the configuration is said once

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

/** For a process that may be one of several: says so when it is asked. */
export const answerSupervisor = (): void => void process.on('message', () => process.send?.('alive'))
