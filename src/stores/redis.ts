import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { createBreaker } from './breaker.ts'
import { deadlineFactor, within } from './deadline.ts'

/** The driver has 479 files: 0.2 s of CPU at the start of every process. One that uses no Redis does not load it. */
const driver = (): typeof import('@redis/client') => createRequire(import.meta.url)('@redis/client')

/** The driver's own timeouts cover neither a command that was already sent nor a connection that was already made. */
const commandMs = 100
const connectMs = 200

/** After this many unanswered probes in a row the connection is replaced: about every 1.4 s. */
const probesPerConnection = 4

export interface Redis {
  /** Runs a script once. It is never retried: a script that timed out may still have run. */
  run(script: Script, keys: string[], values: string[]): Promise<number[]>
  /** The same for a script that returns text. */
  runForText(script: Script, keys: string[], values: string[]): Promise<string>
  /** Waits for the first connection and returns the server's version. */
  inspect(): Promise<{ version: string }>
  close(): Promise<void>
}

export interface Script {
  readonly source: string
  readonly sha: string
}

export const script = (source: string): Script => ({ source, sha: createHash('sha1').update(source).digest('hex') })

// A Redis that is out of memory, read-only or forbids scripts is useless to us, but answers PING.
const writeSomething = script(`return redis.call('SET', KEYS[1], 1, 'PX', 1000)`)
const probeKey = 'footfall:limit:probe'

/** Connects in the background and reconnects by itself. Without a connection every command fails at once. */
export function openRedis(url: string, onChange: (isUp: boolean, cause?: Error) => void): Redis {
  let isClosed = false
  let reason: Error | undefined
  const newClient = () =>
    connect(url, (error) => {
      reason = error
    })
  let client = newClient()
  let connecting = client.connect()
  // A new process waits for its first connection, instead of counting its first requests on its own.
  const firstConnection = within(connectMs, 'Redis', connecting).catch(() => {})

  function evaluate<Reply>({ source, sha }: Script, keys: string[], values: string[]): Promise<Reply> {
    const current = client
    const options = { keys, arguments: values }
    const reply = current.evalSha(sha, options).catch((error: Error) => {
      if (!error.message.startsWith('NOSCRIPT')) throw error
      return current.eval(source, options)
    })
    return within(commandMs, 'Redis', reply) as Promise<Reply>
  }

  let unanswered = 0
  const breaker = createBreaker({
    name: 'Redis',
    isFault: () => true,
    onChange,
    async probe() {
      try {
        await evaluate(writeSomething, [probeKey], [])
        unanswered = 0
      } catch (error) {
        // A network can lose a connection without telling either side, and a failover can leave it at the old primary. TCP would keep
        // it for a quarter of an hour, the driver for ever.
        if (++unanswered % probesPerConnection === 0 && !isClosed) {
          client.destroy()
          client = newClient()
          connecting = client.connect()
          connecting.catch(() => {})
        }
        throw error
      }
    },
  })

  return {
    run: (...call) => firstConnection.then(() => breaker.run(() => evaluate<number[]>(...call))),
    runForText: (...call) => firstConnection.then(() => breaker.run(() => evaluate<string>(...call))),
    async inspect() {
      await firstConnection
      const about = await within(commandMs, 'Redis', client.info('server')).catch((error) => {
        throw reason ?? error
      })
      return { version: /^redis_version:(\S+)/m.exec(about)?.[1] ?? 'unknown' }
    },
    async close() {
      isClosed = true
      breaker.close()
      // A connection that is being made outlives destroy(), and the process with it.
      await within(2 * connectMs, 'Redis', connecting).catch(() => {})
      client.destroy()
    },
  }
}

function connect(url: string, onError: (error: Error) => void) {
  const client = driver().createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: deadlineFactor * connectMs,
      reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, 500),
    },
  })
  client.on('error', onError) // every command fails until it is over, and the breaker reports it once
  return client
}
