import type { Command } from './command.ts'
import { type Commands, linesOf } from './commands.ts'
import type { Terminal } from './terminal.ts'

/** The commands of each task with their summaries: src/cli/summaries.json, so that the help need not load the commands. */
export type Summaries = Readonly<Record<string, readonly (readonly [name: string, summary: string])[]>>

export function overallHelp(summaries: Summaries, terminal: Terminal): string {
  const sections = Object.entries(summaries)
  const longest = Math.max(...sections.flatMap(([, lines]) => lines.map(([name]) => name.length)))
  return [
    `${terminal.bold('footfall')}: web analytics with a statistics API`,
    '',
    ...sections.flatMap(([task, lines]) => [terminal.bold(task), list(lines, terminal, longest), '']),
    ...wrap(
      'Every command takes --help, and --json for output that programs can read. Settings come from the environment and one file: --env-file <file>, else .env here, else /etc/footfall.env (docs/configuration.md). footfall --version prints the version.',
      terminal.width,
    ),
  ].join('\n')
}

export const summariesOf = (tasks: Readonly<Record<string, Commands>>): Summaries =>
  Object.fromEntries(
    Object.entries(tasks).map(([task, commands]) => [
      task,
      linesOf(commands).map(([name, { summary }]) => [name, summary] as const),
    ]),
  )

export function groupHelp(name: string, group: Record<string, Command>, terminal: Terminal): string {
  const lines = Object.entries(group).map(
    ([sub, { summary }]) => [`footfall ${name} ${sub}`, summary] as [string, string],
  )
  return `${list(lines, terminal)}\n\nEvery command takes --help, and --json for output that programs can read.`
}

export function commandHelp(name: string, command: Command, terminal: Terminal): string {
  const options = Object.keys(command.options ?? {}).map(
    (option) => [`--${option}`, command.optionHelp?.[option] ?? ''] as [string, string],
  )
  return [
    command.summary,
    '',
    `  ${terminal.bold(`footfall ${name} ${command.usage}`.trimEnd())}`,
    '',
    list([...options, ['--json', 'print the result as JSON, for programs']], terminal),
    ...(command.examples?.length ? ['', 'For example:', ...command.examples.map((example) => `  ${example}`)] : []),
  ].join('\n')
}

/** Two columns; a summary that does not fit on its line continues on the next. */
function list(
  lines: readonly (readonly [string, string])[],
  terminal: Terminal,
  longest = Math.max(...lines.map(([name]) => name.length)),
): string {
  const room = terminal.width - longest - 4
  return lines
    .flatMap(([name, summary]) => {
      const [first = '', ...rest] = wrap(summary, Math.max(20, room))
      return [`  ${name.padEnd(longest)}  ${first}`.trimEnd(), ...rest.map((line) => ' '.repeat(longest + 4) + line)]
    })
    .join('\n')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line ? `${line} ${word}` : word
    }
  }
  return [...lines, line]
}
