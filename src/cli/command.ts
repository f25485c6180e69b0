import type { ParseArgsOptionsConfig } from 'node:util'
import type { Config } from '../config.ts'
import { HintedError } from '../process/error-hints.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Terminal } from './terminal.ts'

/** One subcommand: what it says of itself, what it takes, what it does. */
export interface Command {
  summary: string
  /** What follows the command's name, for the help. */
  usage: string
  options?: ParseArgsOptionsConfig
  /** A word on each option, by its name. */
  optionHelp?: Record<string, string>
  examples?: readonly string[]
  run(input: Input, context: Context): Promise<Output>
}

export interface Input {
  positionals: readonly string[]
  options: Record<string, string | boolean | undefined>
}

/** What commands work with; each is opened when it is first asked for and closed at the end. */
export interface Context {
  config: Config
  postgres: Postgres
  clickhouse: ClickHouse
  terminal: Terminal
  /** Where progress goes: never mixed into what a command prints. */
  progressTo: NodeJS.WriteStream
}

/** The same outcome for programs and for people. */
export interface Output {
  /** What --json prints. */
  data: unknown
  show(terminal: Terminal): string
  /** For commands that report trouble without failing to run. */
  exitCode?: number
}

/** Something the person at the keyboard can put right; the hint says how. */
export class CommandError extends HintedError {}

/** The positional arguments of a command, by count: too few or too many is said with the usage. */
export function positionals<Count extends number>(
  { positionals: given }: Input,
  names: readonly string[] & { length: Count },
): string[] {
  if (given.length !== names.length) {
    const wanted = names.length === 0 ? 'no arguments' : names.map((name) => `<${name}>`).join(' ')
    throw new CommandError(
      `This command takes ${wanted}, not ${given.length} arguments.`,
      'Add --help to see how it is used.',
    )
  }
  return [...given]
}

export const text = (input: Input, name: string): string | undefined => input.options[name] as string | undefined
