import { exitWith } from '../process/error-hints.ts'
import { CommandError } from './command.ts'

/** Prints a result. */
export function say(text: string): 0 {
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit() // the reader has stopped reading, as `head` does
    exitWith(
      new CommandError(
        `The result cannot be printed (${error.message}).`,
        'Write it to another disk, or free some space.',
      ),
    )
  })
  process.stdout.write(`${text}\n`)
  return 0
}
