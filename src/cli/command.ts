import type { ParseArgsOptionsConfig } from 'node:util'
import type { Cluster } from '../cluster/cluster.ts'
import type { Config } from '../config.ts'
import { HintedError } from '../process/error-hints.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Terminal } from './terminal.ts'

/** One subcommand: its help, its options and its code. */
export interface Command {
  summary: string
  /** The arguments after the command's name, as the help shows them. */
  usage: string
  options?: ParseArgsOptionsConfig
  /** The help for each option, by its name. */
  optionHelp?: Record<string, string>
  examples?: readonly string[]
  run(input: Input, context: Context): Promise<Output>
}

export interface Input {
  positionals: readonly string[]
  options: Record<string, string | boolean | readonly string[] | undefined>
}

/** The resources of a command. Each opens on first use and closes at the end. */
export interface Context {
  config: Config
  /** The file that the settings come from, besides the environment. */
  settingsFile: string | undefined
  postgres: Postgres
  cluster: Cluster
  terminal: Terminal
  /** The stream for progress, separate from the command's output. */
  progressTo: NodeJS.WriteStream
}

/** The result of a command, for programs and for people. */
export interface Output {
  /** The data that --json prints. */
  data: unknown
  /** An empty text prints nothing. */
  show(terminal: Terminal): string
  /** For commands that ran but found a problem. */
  exitCode?: number
}

/** An error that the person at the keyboard can fix; the hint says how. */
export class CommandError extends HintedError {}

/** The positional arguments of a command. Throws if there are too few or too many. */
export function positionals<Count extends number>(
  { positionals: args }: Input,
  names: readonly string[] & { length: Count },
): string[] {
  if (args.length !== names.length) {
    const expected = names.length === 0 ? 'no arguments' : names.map((name) => `<${name}>`).join(' ')
    throw new CommandError(
      `This command takes ${expected}, not ${args.length} arguments.`,
      'Add --help to see its usage.',
    )
  }
  return [...args]
}

export const text = (input: Input, name: string): string | undefined => input.options[name] as string | undefined
