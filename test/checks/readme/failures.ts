// What a new user sees when something is wrong: one sentence, what to do next, exit code 1, never a stack trace; in every shell in which the
// command may be typed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const shells = ['bash', 'dash', 'zsh'] as const

type Environment = Record<string, string>

interface Failure {
  command: string
  said: RegExp
  environment?: Environment
  in?: readonly (typeof shells)[number][]
  /** The working directory; the clone by default. */
  folder?: string
}

/** Returns the number of failures tried. */
function walk(clone: string, environment: Environment, failures: readonly Failure[]): number {
  let walked = 0
  for (const { command, said, in: where = ['bash'], folder = clone, ...more } of failures) {
    for (const shell of where) {
      const { status, stdout, stderr } = spawnSync(shell, ['-c', command], {
        cwd: folder,
        env: { ...environment, ...more.environment },
        encoding: 'utf8',
        timeout: 300_000,
      })
      const what = `${shell}: ${command}\n${stdout}${stderr}`
      assert.equal(status, 1, what)
      assert.match(stderr, said, what)
      assert.doesNotMatch(stdout + stderr, /^ +at |Error: |node:internal/m, what)
      walked++
    }
  }
  return walked
}

/** While `npm run try` runs on port 8080. */
export function walkWhileTried(clone: string, environment: Environment): number {
  const version = readFileSync(join(clone, '.node-version'), 'utf8').trim()
  const path = join(clone, '../old-node')
  mkdirSync(path)
  writeFileSync(join(path, 'node'), '#!/bin/sh\necho v20.1.0\n')
  chmodSync(join(path, 'node'), 0o755)
  const old = { PATH: `${path}:/usr/bin:/bin` }
  for (const shell of shells) {
    const found = spawnSync(shell, ['-c', '. .ci/node && node --version'], {
      cwd: clone,
      env: environment,
      encoding: 'utf8',
    })
    assert.equal(found.stdout, `v${version}\n`, `${shell}: ${found.stderr}`)
  }
  const help = spawnSync('bash', ['-c', 'npm run --silent try -- --help'], {
    cwd: clone,
    env: environment,
    encoding: 'utf8',
  })
  assert.deepEqual([help.status, /--port/.test(help.stdout)], [0, true])
  return walk(clone, environment, [
    { command: `. '${clone}/.ci/node'`, said: /^footfall: .*root of the checkout/, in: ['dash'], folder: '/' },
    {
      command: './footfall --version',
      said: /Node 26 or newer is needed, and v20\.1\.0/,
      environment: old,
      in: shells,
    },
    { command: 'npm run --silent try', said: /Another npm run try uses \.footfall\/try\.\n.*Ctrl-C/ },
    { command: 'npm run --silent try -- --prot 1', said: /--prot.*\n.*--help/ },
    { command: './footfall migrate', said: /KEY_SECRETS is required.*\n.*secret create/, in: shells },
  ])
}

/** While `./footfall serve` runs with the settings of .env. */
export function walkWhileServing(clone: string, environment: Environment): number {
  const elsewhere = { CLICKHOUSE_URL: 'http://footfall:footfall@127.0.0.1:1/footfall' }
  return walk(clone, environment, [
    { command: './footfall serve', said: /Another collector uses the spool folder .*\n.*SPOOL_FOLDER/, in: shells },
    { command: 'npm run --silent collect', said: /Another collector uses the spool folder/ },
    { command: './footfall migrate', said: /database does not answer.*\n.*CLICKHOUSE_URL/, environment: elsewhere },
    { command: './footfall secret create --to .env', said: /already has KEY_SECRETS/ },
    { command: './footfall site show nowhere.example', said: /no site nowhere\.example\.\n.*footfall site list/ },
  ])
}
