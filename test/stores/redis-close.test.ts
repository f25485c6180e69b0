// A process that closes Redis while it still connects must end: one that refused to start stayed for an hour.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { redisUrl } from '../support/stores.ts'

const source = new URL('../../src/stores/redis.ts', import.meta.url).href

for (const [when, wait] of [
  ['at once', ''],
  ['in the next turn', 'await new Promise(setImmediate)'],
  ['when it is connected', 'await redis.inspect()'],
] as const)
  test(`a process that closes Redis ${when} ends`, async () => {
    const script = `
      import { openRedis } from '${source}'
      const redis = openRedis('${redisUrl}', () => {})
      ${wait}
      await redis.close()`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' })
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const [code, signal] = await once(child, 'exit')
    clearTimeout(late)
    assert.deepEqual({ code, signal }, { code: 0, signal: null })
  })
