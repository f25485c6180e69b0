import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mutated } from './apply.ts'
import { mutations } from './mutations.ts'

const root = new URL('../../../', import.meta.url)

const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { scripts: object }

const isThere = (caughtBy: string): boolean =>
  (caughtBy.split(' ')[0] as string) in scripts || existsSync(new URL(caughtBy, root))

test('every breakage matches the source exactly once and names an existing test or check', () => {
  const faults = mutations.flatMap((mutation) => {
    try {
      mutated(mutation, readFileSync(new URL(mutation.file, root), 'utf8'))
      return isThere(mutation.caughtBy) ? [] : [`${mutation.name}: no ${mutation.caughtBy}`]
    } catch (error) {
      return [(error as Error).message]
    }
  })
  assert.deepEqual(faults, [])
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length)
})

test('a breakage whose text is missing, doubled or not valid TypeScript is refused', () => {
  const mutation = { name: 'a', file: 'a.ts', find: 'one', replace: 'two', caughtBy: '' }
  assert.equal(mutated(mutation, 'const one = 1'), 'const two = 1')
  assert.throws(() => mutated(mutation, 'const three = 1'), /occurs 0 times/)
  assert.throws(() => mutated(mutation, 'const one = one'), /occurs 2 times/)
  assert.throws(() => mutated({ ...mutation, replace: '=' }, 'const one = 1'), /no longer TypeScript/)
})
