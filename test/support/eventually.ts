import { deadlineFactor } from '../../src/stores/deadline.ts'

/** Below the time limit of a test, so that a test fails with the last error instead of the limit. */
const timeoutMs = 90_000

/** Retries until the attempt passes. Throws the error of the last attempt. */
export async function eventually<Value>(attempt: () => Promise<Value>, milliseconds = 20_000): Promise<Value> {
  const deadline = performance.now() + Math.max(milliseconds, Math.min(milliseconds * deadlineFactor, timeoutMs))
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
