import { pause } from './runner.ts'

/** Sends this many per second, without waiting for answers, until it is stopped. */
export function startPaced(perSecond: number, send: (index: number) => Promise<void>): { stop(): Promise<void> } {
  let isOver = false
  const running = (async () => {
    const sent: Promise<void>[] = []
    for (let index = 0; !isOver; index++) {
      sent.push(send(index))
      await pause(1_000 / perSecond)
    }
    await Promise.all(sent)
  })()
  return {
    /** When this returns, everything that was sent has its answer. */
    async stop() {
      isOver = true
      await running
    },
  }
}

/** Sends requests at their times, whether or not the one before was answered. */
export async function paced(perSecond: number, ms: number, send: () => Promise<void>): Promise<void> {
  const began = performance.now()
  const all: Promise<void>[] = []
  for (let index = 0; index < (perSecond * ms) / 1000; index++) {
    const wait = began + (index * 1000) / perSecond - performance.now()
    if (wait > 1) await pause(wait)
    all.push(send())
  }
  await Promise.all(all)
}
