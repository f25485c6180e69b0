import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { commandHelp } from '../../src/cli/help.ts'
import { createTerminal } from '../../src/cli/terminal.ts'

const terminal = createTerminal(process.stdout, { NO_COLOR: '1' })

const all = Object.entries(commands).flatMap(([name, entry]): [string, Command][] =>
  typeof entry.run === 'function'
    ? [[name, entry as Command]]
    : Object.entries(entry as Record<string, Command>).map(([sub, command]) => [`${name} ${sub}`, command]),
)

test('every command has help that names it and each of its options', () => {
  for (const [name, command] of all) {
    const help = commandHelp(name, command, terminal)
    assert.ok(help.includes(`footfall ${name}`), name)
    for (const option of Object.keys(command.options ?? {})) assert.match(help, new RegExp(`--${option} +\\S`), name)
  }
})
