// The log of every process, on standard output: JSON lines for programs, plain lines on a terminal.
import { type Logger, pino } from 'pino'

/** Size limit of the log lines that wait for a slow reader. */
const maxBytes = 1024 * 1024

/** A full disk or a stuck reader loses log lines; it never delays a response. */
export function createLog(level: string): Logger {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const format = process.stdout.isTTY ? (line: string) => readable(line, level) : (line: string) => line
  return pino(
    { level },
    {
      write(line) {
        if (process.stdout.writableLength < maxBytes) process.stdout.write(format(line))
      },
    },
  )
}

interface Entry {
  level: number
  time: number
  msg?: string
  err?: { message: string; stack?: string }
  /** An address to open. */
  link?: string
  [field: string]: unknown
}

/** One line of the log for a person. Stack traces appear with LOG_LEVEL=debug or trace. */
export function readable(line: string, level: string): string {
  const entry = JSON.parse(line) as Entry
  const { level: severity, time, msg = '', err, link, pid: _pid, hostname: _hostname, ...fields } = entry
  const more = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`)
  const cause = err ? [`(${err.message})`] : []
  const stack = err?.stack && ['debug', 'trace'].includes(level) ? `\n${err.stack}` : ''
  const at = new Date(time).toTimeString().slice(0, 8)
  const word = (pino.levels.labels[severity] ?? '').toUpperCase().padEnd(5)
  const alone = link ? `\n\n  ${link}\n` : '' // easy to find, and to open or copy
  return `${[at, word, msg, ...cause, ...more].join(' ')}${stack}${alone}\n`
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
