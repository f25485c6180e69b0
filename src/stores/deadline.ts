/** Waits no longer than this by our own clock: a timeout in the server cannot fire while the server hangs. */
export async function within<Value>(
  milliseconds: number,
  name: string,
  work: Promise<Value>,
  onLate?: () => void,
): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    onLate?.()
    reject(new Error(`${name} did not answer within ${milliseconds} ms`))
  }, milliseconds)
  work.catch(() => {}) // when it fails after we stopped waiting
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
