// The options of a check or a bench. Prints them for --help, and ends the process if one is unknown or wrong.
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { exitWith, HintedError } from '../../src/process/error-hints.ts'

/** The defaults, which also say what an option takes. NaN and '' are a number and a text without a default; texts in a list are given one by one. */
export type Options = Record<string, number | string | boolean | string[]>

export function readOptions<Known extends Options>(
  name: string,
  defaults: Known,
  mayBeZero: readonly (keyof Known)[] = [],
): Known {
  const known = Object.entries(defaults)
  try {
    const kinds: ParseArgsOptionsConfig = { help: { type: 'boolean' } }
    for (const [option, usual] of known)
      kinds[option] = { type: typeof usual === 'boolean' ? 'boolean' : 'string', multiple: Array.isArray(usual) }
    const { values } = parseArgs({ options: kinds })
    const options = known.map(([option, usual]) => {
      const given = values[option] ?? usual
      return [option, typeof given === 'string' && typeof usual === 'number' ? numberOf(option, given, usual) : given]
    })
    if (values.help) {
      console.log([name, ...known.map(([option, usual]) => `  --${option} ${wordOf(usual)}`.trimEnd())].join('\n'))
      process.exit()
    }
    return Object.fromEntries(options)
  } catch (error) {
    exitWith(new HintedError(`${name}: ${(error as Error).message}`, 'See: --help'))
  }

  function numberOf(option: string, text: string, usual: number): number {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    const isFraction = usual % 1 > 0
    const least = isFraction || !(usual > 0) || mayBeZero.includes(option) ? 0 : 1
    if (number >= least && (isFraction ? number < Number.POSITIVE_INFINITY : Number.isInteger(number))) return number
    throw new Error(`--${option} must be a ${isFraction ? '' : 'whole '}number from ${least}, not ${text}`)
  }
}

function wordOf(usual: Options[string]): string {
  if (typeof usual === 'boolean') return ''
  return Number.isNaN(usual) ? '<number>' : `${usual}` || '<text>'
}
