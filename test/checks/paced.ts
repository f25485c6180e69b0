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
