import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { listKeys } from '../accounts/keys.ts'
import { type Command, CommandError, positionals, text } from './command.ts'
import type { Terminal } from './terminal.ts'

const newSecret = () => randomBytes(32).toString('base64url')

const warning =
  'Set it in the environment of every process but collectors, and keep a copy in a safe place of its own, apart from database backups:\n' +
  'whoever has both can test guesses of keys, and losing it loses every key made with it.'

const create: Command = {
  summary: 'Make the secret that key hashes are made with',
  usage: '[--to <file>]',
  options: { to: { type: 'string' } },
  optionHelp: {
    to: 'add it to this file of settings, which only its owner may then read; printed unless told otherwise',
  },
  examples: ['footfall secret create --to .env'],
  async run(input) {
    positionals(input, [])
    const KEY_SECRETS = `1:${newSecret()}`
    const line = `KEY_SECRETS=${KEY_SECRETS}`
    const file = text(input, 'to')
    if (file === undefined) return { data: { KEY_SECRETS }, show: () => line }
    addTo(file, line)
    return {
      data: { file },
      show: () => `KEY_SECRETS is in ${file}, which only you may read. Keep a copy of it apart from backups.`,
    }
  },
}

/** A second secret under the same name would hide the first, and with it every key. */
function addTo(file: string, line: string): void {
  const known = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (/^\s*(export\s+)?KEY_SECRETS\s*=/m.test(known)) {
    throw new CommandError(
      `${file} has KEY_SECRETS already.`,
      'Keep it. For a new secret in front of it: footfall secret rotate',
    )
  }
  // Readable for nobody else before the secret is in it.
  if (known !== '' || existsSync(file)) chmodSync(file, 0o600)
  const gap = known === '' || known.endsWith('\n') ? '' : '\n'
  writeFileSync(file, `${gap}${line}\n`, { flag: 'a', mode: 0o600 })
}

const rotate: Command = {
  summary: 'Make a new secret in front of the present ones, which keep their keys working',
  usage: '',
  async run(input, { config }) {
    positionals(input, [])
    const version = Math.max(...config.KEY_SECRETS.map((one) => one.version)) + 1
    const known = config.KEY_SECRETS.map((one) => `${one.version}:${one.secret}`)
    const KEY_SECRETS = [`${version}:${newSecret()}`, ...known].join(',')
    return {
      data: { KEY_SECRETS },
      show: (terminal) =>
        `KEY_SECRETS=${KEY_SECRETS}\n\n${terminal.dim(
          `${warning}\nNew keys are made with version ${version}. When footfall secret status shows none for an older version,\nthat one may be dropped.`,
        )}`,
    }
  },
}

const status: Command = {
  summary: 'Show how many keys each secret still carries',
  usage: '',
  async run(input, { config, postgres }) {
    positionals(input, [])
    const keys = await listKeys(postgres)
    const configured = config.KEY_SECRETS.map(({ version }) => version)
    const versions = [...new Set([...configured, ...keys.map(({ secretVersion }) => secretVersion)])].sort(
      (a, b) => b - a,
    )
    const rows = versions.map((version) => ({
      version,
      configured: configured.includes(version),
      keys: keys.filter(({ secretVersion }) => secretVersion === version).length,
    }))
    return {
      data: rows,
      show: (terminal) =>
        terminal.table(
          ['VERSION', 'KEYS', 'STATE'],
          rows.map(({ version, keys }) => [
            String(version),
            String(keys),
            stateOf(version, keys, configured, terminal),
          ]),
        ),
    }
  },
}

function stateOf(version: number, keys: number, configured: readonly number[], terminal: Terminal): string {
  if (!configured.includes(version)) return terminal.bad('missing from KEY_SECRETS: its keys do not work')
  if (version === configured[0]) return 'makes new keys'
  return keys === 0 ? 'unused: may be dropped from KEY_SECRETS' : 'keeps its keys working'
}

export const secret = { create, rotate, status }
