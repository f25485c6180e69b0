// Slow clients in separate processes, an honest client beside them, and the results of both.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type Check, pause, quantile } from '../runner.ts'
import type { Closed, Order } from './attacker.ts'

const maxPerProcess = 2_500

/** Separate processes, because their timers would delay the honest client and one process may not have enough descriptors. */
export async function startAttack(check: Check, order: Order): Promise<Closed[]> {
  const processes = Math.ceil(order.sockets / maxPerProcess)
  const each = Array.from({ length: processes }, async (_, at) => {
    const sockets = Math.floor(order.sockets / processes) + (at < order.sockets % processes ? 1 : 0)
    const child = fork(new URL('attacker.ts', import.meta.url))
    check.onEnd(() => child.kill('SIGKILL'))
    child.send({ ...order, sockets } satisfies Order)
    const [closed] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [[]])])) as [Closed[]]
    child.kill('SIGKILL')
    return closed
  })
  return (await Promise.all(each)).flat()
}

/** Sends requests one after the other, with a pause between them, until the promise settles. */
export async function measure(ask: () => Promise<number>, until: Promise<unknown>, pauseMs: number): Promise<number[]> {
  const taken: number[] = []
  let over = false
  void until.then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  while (!over) {
    taken.push(await ask())
    await pause(pauseMs)
  }
  return taken
}

export interface Bounds {
  target: string
  /** How many sockets should have been opened. */
  opened: number
  closedWithinMs: number
  /** What a server may send before it closes the connection. */
  goodbye: RegExp
}

export function judge(
  check: Check,
  closed: readonly Closed[],
  { target, opened, closedWithinMs, goodbye }: Bounds,
): void {
  for (const kind of new Set(closed.map((one) => one.kind))) {
    const late = closed.filter((one) => one.kind === kind && one.afterMs > closedWithinMs)
    if (late.length === 0) continue
    const worst = Math.max(...late.map(({ afterMs }) => afterMs))
    check.slow(
      `${target}: not closed within ${closedWithinMs} ms: ${kind}`,
      `${late.length} sockets, the last after ${Math.round(worst)} ms or never`,
    )
  }
  const missing = opened - closed.length
  if (missing > 0) check.fault(`${target}: sockets lost by the check`, `${missing}`)
  const strange = closed.filter(({ got }) => got !== '' && !goodbye.test(got))
  if (strange.length > 0) check.fault(`${target}: strange goodbye`, JSON.stringify(strange[0]))
}

export const round2 = (value: number): number => Math.round(value * 100) / 100

export const figures = (values: readonly number[]): string =>
  `p50 ${round2(quantile(values, 0.5))} p99 ${round2(quantile(values, 0.99))} ms`

export function summary(closed: readonly Closed[]): string {
  const slowest = Math.max(...closed.map(({ afterMs }) => afterMs))
  return `${closed.length} closed, the slowest after ${Math.round(slowest)} ms`
}
