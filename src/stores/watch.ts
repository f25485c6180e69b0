import type { Logger } from 'pino'

/** Hears of each change of a neighbour's state. */
export type OnChange = (isUp: boolean, cause?: Error) => void

/** One line and one metric for each change of a neighbour's state, none for each request that meets it. */
export const watchNeighbours =
  (log: Logger, measure: (name: string, isUp: boolean) => void) =>
  (name: string): OnChange => {
    measure(name, true)
    return (isUp, cause) => {
      measure(name, isUp)
      if (isUp) log.info(`${name} answers again`)
      else log.error({ err: cause }, `${name} does not answer`)
    }
  }
