import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import type { Cluster } from '../cluster/cluster.ts'
import { loadSettings } from '../config/reading.ts'
import { takeEnvFile } from '../config/settings-file.ts'
import { type Config, readConfig } from '../config.ts'
import { explain } from '../process/error-hints.ts'
import { openPostgres, type Postgres } from '../stores/postgres.ts'
import { type Command, CommandError, type Context, type Input } from './command.ts'
import { entryOf, isCommand } from './commands.ts'
import { commandHelp, groupHelp } from './help.ts'
import { printableJson } from './printable.ts'
import { say } from './say.ts'
import { createTerminal } from './terminal.ts'

/** Loaded only when it is used: the driver of ClickHouse takes 0.05 s of CPU, and most commands only read PostgreSQL. */
const clusters = (): typeof import('../cluster/cluster.ts') => createRequire(import.meta.url)('../cluster/cluster.ts')

const terminal = createTerminal(process.stdout, process.env)
const opened: (() => Promise<unknown>)[] = []
let namedFile: string | undefined
let settingsFile: string | undefined

/** Configuration and connections are opened when a command first needs them; help and `secret create` need neither. */
const context: Context = {
  terminal,
  progressTo: process.stderr,
  get config(): Config {
    settingsFile = loadSettings(namedFile) ?? settingsFile
    return readConfig(process.env)
  },
  get settingsFile() {
    return settingsFile
  },
  get postgres(): Postgres {
    const postgres = openPostgres(context.config.DATABASE_URL)
    opened.push(() => postgres.end({ timeout: 1 }))
    Object.defineProperty(context, 'postgres', { value: postgres })
    return postgres
  },
  get cluster(): Cluster {
    const cluster = clusters().openCluster(context.config)
    opened.push(() => cluster.close())
    Object.defineProperty(context, 'cluster', { value: cluster })
    return cluster
  },
}

process.stderr.on('error', () => {}) // a command goes on even if nobody can read its progress and errors
process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  const { message, hint } = explain(error)
  process.stderr.write(`footfall: ${message}\n${hint ? `  ${hint}\n` : ''}`)
  return 1
})
await Promise.all(opened.map((close) => close()))

async function main(all: string[]): Promise<number> {
  const { file, words } = takeEnvFile(all)
  namedFile = file
  const [first = '', second] = words
  const entry = await entryOf(first)
  if (!entry) throw new CommandError(`There is no command ${first}.`, 'See them all with: footfall help')
  // `backup verify` stands beside `backup <folder>`.
  const longer = await entryOf(`${first} ${second}`)
  if (longer && isCommand(longer)) return perform(`${first} ${second}`, longer, words.slice(2))
  if (isCommand(entry)) return perform(first, entry, words.slice(1))
  if (second === undefined || ['help', '--help', '-h'].includes(second)) return say(groupHelp(first, entry, terminal))
  const command = Object.hasOwn(entry, second) ? entry[second] : undefined
  if (!command) throw new CommandError(`There is no command ${first} ${second}.`, `See: footfall ${first} help`)
  return perform(`${first} ${second}`, command, words.slice(2))
}

async function perform(name: string, command: Command, words: string[]): Promise<number> {
  const { values, positionals } = parse(name, command, words)
  if (values.help) return say(commandHelp(name, command, terminal))
  const output = await command.run({ positionals, options: values as Input['options'] }, context)
  const text = values.json ? printableJson(output.data) : output.show(terminal)
  if (text !== '') say(text)
  return output.exitCode ?? 0
}

function parse(name: string, command: Command, args: string[]) {
  const options = { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new CommandError((error as Error).message, `See: footfall ${name} --help`)
  }
}
