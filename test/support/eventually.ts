/** Tries until it passes, and fails as the last attempt did. */
export async function eventually<Value>(attempt: () => Promise<Value>, milliseconds = 10_000): Promise<Value> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
