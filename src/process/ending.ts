/**
 * Ends this process if its graceful end takes longer: a store that hangs, or that ended first, must not keep it alive. Nothing is lost, because
 * acknowledged events are on disk.
 */
export function exitWithin(milliseconds: number): void {
  setTimeout(() => process.exit(), milliseconds).unref()
}
