import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, loadTasks } from '../../src/cli/commands.ts'
import { commandHelp } from '../../src/cli/help.ts'
import { createTerminal } from '../../src/cli/terminal.ts'

const terminal = createTerminal(process.stdout, { NO_COLOR: '1' })

test('every command has help that names it and each of its options', async () => {
  for (const [name, command] of Object.values(await loadTasks()).flatMap(linesOf)) {
    const help = commandHelp(name, command, terminal)
    assert.ok(help.includes(`footfall ${name}`), name)
    for (const option of Object.keys(command.options ?? {})) assert.match(help, new RegExp(`--${option} +\\S`), name)
  }
})
