import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { listKeys } from '../accounts/keys.ts'
import { secondFactorsBySecret } from '../users/second-factor.ts'
import { type Command, CommandError, positionals, text } from './command.ts'
import type { Terminal } from './terminal.ts'

const newSecret = () => randomBytes(32).toString('base64url')

const warning =
  'Set it in the environment of every process except collectors. Keep a copy in a safe place, separate from database backups:\n' +
  'somebody who has both can test guesses of keys. If you lose a secret, the keys made with it stop working.'

const create: Command = {
  summary: 'Generate the secret for hashing API keys',
  usage: '[--to <file>]',
  options: { to: { type: 'string' } },
  optionHelp: {
    to: 'add it to this settings file and make the file readable only for its owner; without --to it is printed',
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
      show: () => `Added KEY_SECRETS to ${file}, which only you can read. Keep a copy separate from database backups.`,
    }
  },
}

/** A second line with the same name would hide the first secret, and no key would work any more. */
function addTo(file: string, line: string): void {
  const content = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (/^\s*(export\s+)?KEY_SECRETS\s*=/m.test(content)) {
    throw new CommandError(
      `${file} already has KEY_SECRETS.`,
      'Keep it. To add a new secret in front of it: footfall secret rotate',
    )
  }
  // Before the secret is written, only the owner may read the file.
  if (content !== '' || existsSync(file)) chmodSync(file, 0o600)
  const gap = content === '' || content.endsWith('\n') ? '' : '\n'
  writeFileSync(file, `${gap}${line}\n`, { flag: 'a', mode: 0o600 })
}

const rotate: Command = {
  summary: 'Generate a new secret in front of the existing ones; existing keys keep working',
  usage: '',
  async run(input, { config }) {
    positionals(input, [])
    const version = Math.max(...config.KEY_SECRETS.map((one) => one.version)) + 1
    const secrets = config.KEY_SECRETS.map((one) => `${one.version}:${one.secret}`)
    const KEY_SECRETS = [`${version}:${newSecret()}`, ...secrets].join(',')
    return {
      data: { KEY_SECRETS },
      show: (terminal) =>
        `KEY_SECRETS=${KEY_SECRETS}\n\n${terminal.dim(
          `${warning}\nNew keys use version ${version}. When footfall secret status shows that an older version is unused,\nyou can remove it.`,
        )}`,
    }
  },
}

const status: Command = {
  summary: 'Show how many keys and second factors use each secret',
  usage: '',
  async run(input, { config, postgres }) {
    positionals(input, [])
    const keys = await listKeys(postgres)
    const secondFactors = await secondFactorsBySecret(postgres, config.KEY_SECRETS)
    const configured = config.KEY_SECRETS.map(({ version }) => version)
    const versions = [...new Set([...configured, ...keys.map(({ secretVersion }) => secretVersion)])].sort(
      (a, b) => b - a,
    )
    const rows = versions.map((version) => ({
      version,
      configured: configured.includes(version),
      keys: keys.filter(({ secretVersion }) => secretVersion === version).length,
      secondFactors: secondFactors.get(version) ?? 0,
    }))
    return {
      data: rows,
      show: (terminal) =>
        terminal.table(
          ['VERSION', 'KEYS', 'SECOND FACTORS', 'STATE'],
          rows.map(({ version, keys, secondFactors }) => [
            String(version),
            String(keys),
            String(secondFactors),
            stateOf(version, keys + secondFactors, configured, terminal),
          ]),
        ),
    }
  },
}

function stateOf(version: number, uses: number, configured: readonly number[], terminal: Terminal): string {
  if (!configured.includes(version)) return terminal.bad('missing from KEY_SECRETS: its keys do not work')
  if (version === configured[0]) return 'used for new keys'
  return uses === 0 ? 'unused: you can remove it from KEY_SECRETS' : 'in use'
}

export const secret = { create, rotate, status }
