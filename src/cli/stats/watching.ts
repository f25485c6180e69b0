// Redraws until somebody presses Ctrl-C. It draws on the terminal's alternate screen, so the previous content comes back afterwards.
import { setTimeout as sleep } from 'node:timers/promises'
import { explain } from '../../process/error-hints.ts'
import { shorten, type Terminal } from '../terminal.ts'

const otherScreen = '\x1b[?1049h\x1b[?25l'
const firstScreen = '\x1b[?25h\x1b[?1049l'
const home = '\x1b[H'
const clearLine = '\x1b[K'
const clearRest = '\x1b[J'

/** Seconds between two drawings. On a server, a drawing takes up to eight of the requests that a key has per hour. */
export const watchSeconds = { local: 5, remote: 60 }

export interface Drawing {
  /** With a height, the drawing is cut to fit. */
  draw(terminal: Terminal, height?: number): string
}

/** Returns the last drawing. An error is shown below the last numbers; only an error of the first drawing ends the watch. */
export async function watch<Value extends Drawing>(
  stream: NodeJS.WriteStream,
  terminal: Terminal,
  everySeconds: number,
  read: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const ending = new AbortController()
  const { signal } = ending
  let last = await read(signal)
  let fault = ''
  const show = () => {
    const room = terminal.height - 2
    const lines = last.draw(terminal, room).split('\n').slice(0, room)
    const hint = `Every ${everySeconds} seconds. Ctrl-C ends.`
    const foot = fault === '' ? terminal.dim(hint) : terminal.warn(shorten(fault, terminal.width))
    stream.write(`${home}${[...lines, '', foot].map((line) => line + clearLine).join('\n')}${clearRest}`)
  }
  const end = () => ending.abort()
  const leave = () => void stream.write(firstScreen)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.once(name, end)
  process.once('exit', leave) // also when PostgreSQL ends the process
  stream.on('resize', show)
  stream.write(otherScreen)
  try {
    while (!signal.aborted) {
      show()
      await sleep(everySeconds * 1000, undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      try {
        last = await read(signal)
        fault = ''
      } catch (error) {
        fault = explain(error as Error).message
      }
    }
  } finally {
    stream.off('resize', show)
    process.off('exit', leave)
    for (const name of signals) process.off(name, end)
    leave()
  }
  return last
}
