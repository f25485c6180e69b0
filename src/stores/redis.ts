import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'

/** The bound on one command, by our own clock: the driver's does not cover a command that was already sent. */
const commandMs = 100

export interface Redis {
  /** Runs a script once. It is never retried: one that timed out may still have run. */
  run(script: Script, keys: string[], values: string[]): Promise<number[]>
  close(): Promise<void>
}

export interface Script {
  readonly source: string
  readonly sha: string
}

export const script = (source: string): Script => ({ source, sha: createHash('sha1').update(source).digest('hex') })

/** Connects in the background and reconnects by itself; until then every command fails at once. */
export function openRedis(url: string, onTrouble: (error: Error) => void): Redis {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 200, reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000) },
  })
  client.on('error', onTrouble)
  client.connect().catch(onTrouble)

  return {
    async run({ source, sha }, keys, values) {
      const options = { keys, arguments: values }
      const evaluate = () =>
        client.evalSha(sha, options).catch((error: Error) => {
          if (!error.message.startsWith('NOSCRIPT')) throw error
          return client.eval(source, options)
        })
      return (await within(commandMs, evaluate())) as number[]
    },
    async close() {
      client.destroy()
    },
  }
}

async function within<T>(milliseconds: number, command: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`Redis did not answer within ${milliseconds} ms`)), milliseconds)
  command.catch(() => {}) // when it fails after we stopped waiting
  try {
    return await Promise.race([command, late])
  } finally {
    clearTimeout(timer)
  }
}
