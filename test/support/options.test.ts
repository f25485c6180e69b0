import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const source = `import { readOptions } from '${new URL('options.ts', import.meta.url)}'
const known = { n: 5, parts: 2, most: 1.5, world: NaN, only: '', names: [], fresh: false }
console.log(JSON.stringify(readOptions('some', known, ['parts'])))`

function run(...args: string[]) {
  const words = ['--input-type=module', '--eval', source, '--', ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('options have their defaults, or what was given', () => {
  const usual = { n: 5, parts: 2, most: 1.5, world: null, only: '', names: [], fresh: false }
  assert.deepEqual(JSON.parse(run().stdout), usual)
  const args = '--n 7 --parts 0 --most 0.5 --world 0 --only a --names b --names c --fresh'
  const given = { n: 7, parts: 0, most: 0.5, world: 0, only: 'a', names: ['b', 'c'], fresh: true }
  assert.deepEqual(JSON.parse(run(...args.split(' ')).stdout), given)
})

test('--help prints every option with its default', () => {
  const options = ['--n 5', '--parts 2', '--most 1.5', '--world <number>', '--only <text>', '--names <text>', '--fresh']
  const stdout = `some\n${options.map((option) => `  ${option}\n`).join('')}`
  assert.deepEqual(run('--n', '7', '--help'), { status: 0, stdout, stderr: '' })
})

test('an option that is unknown or no such number is refused, also with --help', () => {
  for (const wrong of [
    '--typo=3',
    '--n=abc',
    '--n=',
    '--n=0',
    '--n=1.5',
    '--n=-1',
    '--most=Infinity',
    '--only',
    'word',
  ]) {
    const { status, stdout, stderr } = run('--help', wrong)
    assert.deepEqual([status, stdout], [1, ''], wrong)
    assert.match(stderr, /^footfall: some: .*\n.*--help\n$/s, wrong)
  }
})
