import { type Logger, pino } from 'pino'

/** As much as may wait for a reader that is slow. */
const mostBytes = 1024 * 1024

/** To standard output. A full disk or a reader that is stuck costs lines, never an answer. */
export function createLog(level: string): Logger {
  process.stdout.on('error', () => {})
  return pino(
    { level },
    {
      write(line) {
        if (process.stdout.writableLength < mostBytes) process.stdout.write(line)
      },
    },
  )
}
