// A separate installation for a test, used through the `footfall` command as a person would: its own databases, settings in the environment.

import { execFile } from 'node:child_process'
import type { ClickHouseServerOptions } from '../../dev/clickhouse/server.ts'
import { inherited } from './inherited.ts'
import { createStores, keySecrets } from './stores.ts'

const command = new URL('../../src/cli/start.ts', import.meta.url).pathname

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export type Installation = Awaited<ReturnType<typeof install>>

export async function install(extra: Record<string, string> = {}, options: ClickHouseServerOptions = {}) {
  const stores = await createStores(options)
  const environment = {
    DATABASE_URL: stores.addresses.postgres,
    CLICKHOUSE_URL: stores.addresses.clickhouse,
    REDIS_URL: stores.addresses.redis,
    KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
    // Any free ports: others may use the default ones.
    PORT: '0',
    METRICS_PORT: '0',
    COLLECTOR_METRICS_PORT: '0',
    ...extra,
  }
  const footfall = (...words: string[]) => runFootfall(words, environment)
  return {
    addresses: stores.addresses,
    clickhousePid: stores.clickhousePid,
    environment,
    footfall,
    /** The JSON output of a command. */
    // biome-ignore lint/suspicious/noExplicitAny: tests compare with literals
    async json(...words: string[]): Promise<any> {
      const { code, stdout, stderr } = await footfall(...words, '--json')
      if (code !== 0) throw new Error(`footfall ${words.join(' ')} failed: ${stderr}`)
      return JSON.parse(stdout)
    },
    remove: stores.remove,
  }
}

export function runFootfall(words: string[], environment: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [command, ...words],
      { env: { ...inherited, ...environment }, cwd: '/', maxBuffer: 64e6 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

/** Does the same on a terminal of a given width: the `script` command provides a real pseudo-terminal. */
export function onTerminal(words: string[], environment: Record<string, string>, columns: number): Promise<string> {
  const { file, args, env } = commandOnTerminal(words, environment, columns)
  return new Promise((resolve) => {
    execFile(file, args, { env, cwd: '/' }, (_error, stdout) => resolve(stdout.replaceAll('\r\n', '\n')))
  })
}

/** For a command that runs until somebody presses Ctrl-C: what is written to its standard input is typed. */
export function commandOnTerminal(words: string[], environment: Record<string, string>, columns: number, rows = 40) {
  const line = [process.execPath, command, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const env = { TERM: 'xterm-256color', ...inherited, ...environment }
  return { file: 'script', args: ['-qec', `stty cols ${columns} rows ${rows}; exec ${line}`, '/dev/null'], env }
}
