import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const root = new URL('../../', import.meta.url).pathname

test('the types of the client hold in a project with the types of browsers alone, and request.js fits them', async () => {
  const tsc = ['node_modules/typescript/bin/tsc', '--project', 'test/client']
  await promisify(execFile)(process.execPath, tsc, { cwd: root }).catch(({ stdout }) => {
    throw new Error(stdout)
  })
})
