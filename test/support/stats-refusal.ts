// What `footfall stats` prints when it refuses, without the half second that a process takes to start.
import { parseArgs } from 'node:util'
import type { Context, Input } from '../../src/cli/command.ts'
import { stats } from '../../src/cli/stats.ts'
import { createTerminal } from '../../src/cli/terminal.ts'
import { explain } from '../../src/process/error-hints.ts'

/** It must refuse before it opens a database: the context has none. */
export async function refusalOf(words: readonly string[]): Promise<string> {
  const options = { ...stats.options, json: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true })
  const context = { terminal: createTerminal({} as NodeJS.WriteStream, {}), progressTo: process.stderr }
  try {
    await stats.run({ positionals, options: values as Input['options'] }, context as unknown as Context)
  } catch (error) {
    const { message, hint } = explain(error as Error)
    return `footfall: ${message}\n  ${hint}\n`
  }
  throw new Error(`footfall stats ${words.join(' ')} did not refuse`)
}
