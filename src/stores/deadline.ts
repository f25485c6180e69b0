/** Waits no longer than this by our own clock: a timeout in the server cannot fire while the server hangs. */
export async function within<Value>(
  milliseconds: number,
  name: string,
  work: Promise<Value>,
  onLate?: () => void,
): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let overdue: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // If it was this process that stood still, the answer is waiting in a socket: it is read before this runs.
    overdue = setImmediate(() => {
      onLate?.()
      reject(new Error(`${name} did not answer within ${milliseconds} ms`))
    })
  }, milliseconds)
  work.catch(() => {}) // when it fails after we stopped waiting
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    clearImmediate(overdue)
  }
}
