import { randomBytes } from 'node:crypto'
import { listKeys } from '../accounts/keys.ts'
import { type Command, positionals } from './command.ts'
import type { Terminal } from './terminal.ts'

const newSecret = () => randomBytes(32).toString('base64url')

const warning =
  'Set it in the environment of every process but collectors, and keep a copy in a safe place of its own, apart from database backups:\n' +
  'whoever has both can test guesses of keys, and losing it loses every key made with it.'

const create: Command = {
  summary: 'Make the secret that key hashes are made with',
  usage: '',
  examples: ['footfall secret create >> .env'],
  async run(input) {
    positionals(input, [])
    const KEY_SECRETS = `1:${newSecret()}`
    return { data: { KEY_SECRETS }, show: () => `KEY_SECRETS=${KEY_SECRETS}` }
  },
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
