// Settings come from the environment, then from exactly one file (decision D-225). Commands and processes all find it here.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { HintedError } from '../process/error-hints.ts'

/** The file of the current folder comes before that of the machine. */
const usualFiles = ['.env', '/etc/footfall.env']

type Environment = Record<string, string | undefined>

/**
 * Adds the settings of the file to the environment, which takes precedence, and returns the name of the file. Processes that this one
 * starts then have all settings, and read no file; nor do tests, checks, `try` and `dev`.
 */
export function loadSettingsFile(
  environment: Environment,
  known: readonly string[],
  named?: string,
  files: readonly string[] = usualFiles,
): string | undefined {
  if (environment.FOOTFALL_NO_ENV_FILE) return undefined
  const found = named === undefined ? firstOf(files) : { file: named, text: contentOf(named) }
  if (named !== undefined && found?.text === undefined) {
    throw new HintedError(`${resolve(named)} does not exist.`, 'Check the name after --env-file.')
  }
  if (found?.text !== undefined) {
    for (const [name, value] of settingsIn(found.file, found.text, known)) environment[name] ??= value
  }
  environment.FOOTFALL_NO_ENV_FILE = '1'
  return found?.file
}

function firstOf(files: readonly string[]) {
  for (const file of files) {
    const text = contentOf(file)
    if (text !== undefined) return { file, text }
  }
  return undefined
}

/** Undefined: there is no such file. */
function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'EACCES' || code === 'EPERM') {
      throw new HintedError(
        `${resolve(file)} is there, but this user has no permission to read it.`,
        'Run this with sudo or as the owner of the file; a service gets /etc/footfall.env as in deploy/footfall.service.',
      )
    }
    throw new HintedError(`${resolve(file)} cannot be read (${code}).`, 'Settings are in a text file: NAME=value.')
  }
}

/** Faults never repeat a value, because it may be a secret. */
function settingsIn(file: string, text: string, known: readonly string[]): Map<string, string> {
  const settings = new Map<string, string>()
  const lineOf = new Map<string, number>()
  const faults: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const number = index + 1
    const [, name, written] = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || written === undefined) faults.push(`line ${number} is not NAME=value`)
    else if (!known.includes(name)) faults.push(`line ${number}: ${name} is not a setting`)
    else if (lineOf.has(name)) faults.push(`line ${number}: ${name} was set in line ${lineOf.get(name)} already`)
    else {
      lineOf.set(name, number)
      const [quote] = /^["']/.exec(written) ?? []
      const end = quote ? written.indexOf(quote, 1) : written.length
      if (end < 0) faults.push(`line ${number}: the value of ${name} has no closing quote`)
      else if (quote && end < written.length - 1)
        faults.push(`line ${number}: the value of ${name} goes on after its closing quote`)
      else if (!quote && /\s#/.test(written))
        faults.push(`line ${number}: write the comment after ${name} on a line of its own, or the value in quotes`)
      else settings.set(name, quote ? written.slice(1, end) : written)
    }
  }
  if (faults.length === 0) return settings
  throw new HintedError(
    `${resolve(file)} is not usable:\n  ${faults.join('\n  ')}`,
    'Correct these lines; docs/configuration.md describes every setting.',
  )
}

/** Takes `--env-file <file>` out of the words after a command. */
export function takeEnvFile(words: readonly string[]): { file: string | undefined; words: string[] } {
  const last = words.includes('--') ? words.indexOf('--') : words.length
  const index = words.findIndex((word, at) => at < last && /^--env-file(=|$)/.test(word))
  if (index < 0) return { file: undefined, words: [...words] }
  const isOneWord = words[index] !== '--env-file'
  const file = isOneWord ? words[index]?.slice('--env-file='.length) : words[index + 1]
  if (!file || file.startsWith('-')) {
    throw new HintedError('--env-file needs the name of a file.', 'For example: --env-file /etc/footfall.env')
  }
  return { file, words: words.toSpliced(index, isOneWord ? 1 : 2) }
}
