/**
 * Multiplies every deadline of a request. Only tests change it: a shared machine may pause for seconds, and tests of correctness must
 * not depend on that. Tests of deadlines leave it at 1.
 */
export const deadlineFactor = Number(process.env.FOOTFALL_DEADLINE_FACTOR ?? 1)

/** Waits for the work at most this long by our own clock: a timeout inside the server cannot fire while the server hangs. */
export async function within<Value>(
  standardMs: number,
  name: string,
  work: Promise<Value>,
  onLate?: () => void,
): Promise<Value> {
  const milliseconds = standardMs * deadlineFactor
  const { promise: late, reject } = Promise.withResolvers<never>()
  let overdue: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // If this process itself stood still, the answer waits in a socket. Node reads it before this callback runs.
    overdue = setImmediate(() => {
      onLate?.()
      reject(new Error(`${name} did not answer within ${milliseconds} ms`))
    })
  }, milliseconds)
  work.catch(() => {}) // it may fail after we stopped waiting
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    clearImmediate(overdue)
  }
}
