import { deadlineFactor } from '../../src/stores/deadline.ts'

/** Retries until the attempt passes. Throws the error of the last attempt. */
export async function eventually<Value>(attempt: () => Promise<Value>, milliseconds = 20_000): Promise<Value> {
  const deadline = performance.now() + milliseconds * deadlineFactor
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
