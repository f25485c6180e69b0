// The first thing that somebody sees: the command before its packages are installed, and the link that makes the first owner.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { inherited } from '../support/inherited.ts'
import { commandOnTerminal, install } from '../support/installation.ts'

const root = new URL('../../', import.meta.url).pathname

test('before npm ci the command says what to run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-clone-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const path of ['footfall', '.node-version', 'package.json', 'src'])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  const { status, stderr } = spawnSync(join(folder, 'footfall'), ['--version'], { env: inherited, encoding: 'utf8' })
  assert.equal(status, 1)
  assert.equal(
    stderr,
    `footfall: the packages that it needs are not installed.\n  Run this in ${folder}: npm ci --omit=dev\n`,
  )
})

test('--version and --help answer within three times what Node itself takes', () => {
  const timeOf = (file: string, ...words: string[]) => {
    const began = performance.now()
    const { status } = spawnSync(file, words, { env: { PATH: process.env.PATH ?? '' } })
    assert.equal(status, 0)
    return performance.now() - began
  }
  // In turn, because the machine may be busy for a while. The first round fills the cache of compiled code.
  const rounds = Array.from({ length: 12 }, () => ({
    node: timeOf(process.execPath, '-e', '0'),
    version: timeOf(join(root, 'footfall'), '--version'),
    help: timeOf(join(root, 'footfall'), '--help'),
  }))
  const least = (name: 'node' | 'version' | 'help') => Math.min(...rounds.map((round) => round[name]))
  for (const name of ['version', 'help'] as const)
    inTime(least(name) < 3 * least('node'), `--${name} took ${least(name)} ms, Node itself ${least('node')} ms`)
})

test('serve on a terminal prints the link that makes the first owner on a line of its own', async (t) => {
  const installation = await install({ SPOOL_FOLDER: mkdtempSync(join(tmpdir(), 'footfall-spool-')) })
  t.after(() => installation.remove())
  const { file, args, env } = commandOnTerminal(['serve'], installation.environment, 60)
  const child = spawn(file, args, { env, cwd: '/', detached: true })
  t.after(() => process.kill(-(child.pid as number), 'SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const link = await eventually(async () => {
    const [, found] = /\r\n\r\n {2}(\S+)\r\n\r\n/.exec(output) ?? []
    assert.ok(found, output)
    return found
  })
  assert.match(link, /^http:\/\/localhost:\d+\/setup\/[\w-]{43}$/)
})
