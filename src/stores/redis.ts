import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'
import { createBreaker } from './breaker.ts'
import { within } from './deadline.ts'

/** The driver's own timeout does not cover a command that was already sent. */
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
export function openRedis(url: string, onChange: (isUp: boolean, cause?: Error) => void): Redis {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 200, reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, 500) },
  })
  client.on('error', () => {}) // every command fails while it lasts, and the breaker tells of it once
  client.connect().catch(() => {})
  const breaker = createBreaker({
    name: 'Redis',
    probe: () => within(commandMs, 'Redis', client.ping()),
    isFault: () => true,
    onChange,
  })

  return {
    run({ source, sha }, keys, values) {
      const options = { keys, arguments: values }
      return breaker.run(() => {
        const reply = client.evalSha(sha, options).catch((error: Error) => {
          if (!error.message.startsWith('NOSCRIPT')) throw error
          return client.eval(source, options)
        })
        return within(commandMs, 'Redis', reply) as Promise<number[]>
      })
    },
    async close() {
      breaker.close()
      client.destroy()
    },
  }
}
