// The options that `npm run try` and `npm run dev` share.
import { parseArgs } from 'node:util'
import { exitWith, HintedError } from '../src/process/error-hints.ts'

const known = {
  events: {
    type: 'string',
    default: '100000',
    help: 'approximate number of events of the demo site, 10000 to 100000000; the default is 100000',
    bounds: [10_000, 100_000_000],
  },
  port: {
    type: 'string',
    default: '8080',
    help: 'port of Footfall; the default is 8080. `npm run dev` also uses the two ports after it',
    bounds: [1, 65_533],
  },
  fresh: { type: 'boolean', default: false, help: 'start without the data of the last run' },
} as const

export interface Options {
  events: number
  port: number
  fresh: boolean
}

/** Ends the process after printing the help, or on an unknown option. */
export function readOptions(name: 'try' | 'dev'): Options {
  try {
    const { values } = parseArgs({ options: { ...known, help: { type: 'boolean', short: 'h' } } })
    if (values.help) {
      console.log(usage(name))
      process.exit()
    }
    return { events: numberOf('events', values.events), port: numberOf('port', values.port), fresh: values.fresh }
  } catch (error) {
    exitWith(
      error instanceof HintedError
        ? error
        : new HintedError((error as Error).message, `See: npm run ${name} -- --help`),
    )
  }
}

const usage = (name: string): string => `npm run ${name} -- [--events <number>] [--port <port>] [--fresh]

${Object.entries(known)
  .map(([option, { help }]) => `  --${option.padEnd(7)} ${help}`)
  .join('\n')}`

function numberOf(name: 'events' | 'port', text: string): number {
  const [least, most] = known[name].bounds
  const number = Number(text)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw new HintedError(`--${name} cannot be ${text}.`, `Use a whole number from ${least} to ${most}.`)
}
