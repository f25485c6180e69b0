// An installation of a test's own, used through the `footfall` command as a person would: its own databases, settings in the environment.
import { execFile } from 'node:child_process'
import type { ClickHouseServerOptions } from '../../dev/clickhouse/server.ts'
import { createStores, keySecrets } from '../support/stores.ts'

const command = new URL('../../src/cli/main.ts', import.meta.url).pathname

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export type Installation = Awaited<ReturnType<typeof install>>

export async function install(extra: Record<string, string> = {}, options: ClickHouseServerOptions = {}) {
  const stores = await createStores(options)
  const environment = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: stores.addresses.postgres,
    CLICKHOUSE_URL: stores.addresses.clickhouse,
    REDIS_URL: stores.addresses.redis,
    KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
    ...extra,
  }
  const footfall = (...words: string[]) => runFootfall(words, environment)
  return {
    addresses: stores.addresses,
    clickhousePid: stores.clickhousePid,
    environment,
    footfall,
    /** What a command prints for programs. */
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
      { env: environment, cwd: '/', maxBuffer: 64e6 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

/** The same on a terminal of a given width, by the `script` command, which gives it a real pseudo-terminal. */
export function onTerminal(words: string[], environment: Record<string, string>, columns: number): Promise<string> {
  const line = [process.execPath, command, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const env = { TERM: 'xterm-256color', ...environment }
  return new Promise((resolve) => {
    execFile('script', ['-qec', `stty cols ${columns}; ${line}`, '/dev/null'], { env, cwd: '/' }, (_error, stdout) =>
      resolve(stdout.replaceAll('\r\n', '\n')),
    )
  })
}
