#!/usr/bin/env -S node --
// Answers --version and --help at once; for everything else it loads the commands, which takes ten times as long as Node itself.
import { readFileSync } from 'node:fs'
import { say } from './say.ts'

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

const [first] = process.argv.slice(2)
if (first === '--version') {
  say(`footfall ${JSON.parse(textOf('../../package.json')).version}`)
} else if (first === undefined || ['help', '--help', '-h'].includes(first)) {
  const [{ overallHelp }, { createTerminal }] = await Promise.all([import('./help.ts'), import('./terminal.ts')])
  say(overallHelp(JSON.parse(textOf('summaries.json')), createTerminal(process.stdout, process.env)))
} else await import('./main.ts')
