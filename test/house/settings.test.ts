import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAll, type Tree, tree } from './tree.ts'

/** Files that start a process of ours with an environment that does not say that it reads no settings file. */
const faults = (files: Tree): string[] =>
  [...files]
    .filter(([path]) => /^(test|bench|dev)\/.*\.ts$/.test(path))
    .filter(([, text]) => /(?:api|cli|collector|console)\/main\.ts/.test(text))
    .filter(([, text]) => /\b(spawn|fork|execFile)\w*\(/.test(text))
    .filter(
      ([, text]) => !/\.\.\.inherited\b|env: inherited\b|FOOTFALL_NO_ENV_FILE|\b(start|launch)Process\(/.test(text),
    )
    .map(([path]) => path)

test('no test, check or tool for development reads the settings of whoever runs it', () => {
  const files = readAll()
  assert.deepEqual(faults(files), [])
  const main = "spawn(process.execPath, ['src/api/main.ts'], { env })"
  assert.deepEqual(faults(tree({ 'test/a.ts': main, 'bench/b.ts': `${main} ...inherited`, 'src/c.ts': main })), [
    'test/a.ts',
  ])
})
