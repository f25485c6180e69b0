import type { Logger } from 'pino'

/** Called when a dependency goes down or comes back. */
export type OnChange = (isUp: boolean, cause?: Error) => void

/** One log line and one metric per change of a dependency's state, not per request. */
export const watchDependencies =
  (log: Logger, measure: (name: string, isUp: boolean) => void) =>
  (name: string): OnChange => {
    measure(name, true)
    return (isUp, cause) => {
      measure(name, isUp)
      if (isUp) log.info(`${name} answers again`)
      else log.error({ err: cause }, `${name} does not answer`)
    }
  }
