// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as the API and the console send them. Every message is
// complete in itself, so a reader that is slower than the messages gets only the latest one, and memory stays bounded (decision D-241).
import { Readable } from 'node:stream'

/** Several times per second, so that a stream ends within a second of what ends it (decision D-42). */
const checkEveryMs = 300
/** Proxies close a connection on which nothing comes for a minute. */
const heartbeatMs = 15_000
/** A reader that reads nothing for this long is gone, whatever its connection says. */
const maxStuckMs = 30_000
/** How long a reader may take for the last message. */
const maxGoodbyeMs = 400
/** When readers try again after a connection broke. */
const retryMs = 2_000
/** After the end of a process they come later, and not all at once: until then load balancers know that it is gone (decision D-167). */
const retryAfterEndMs = { from: 4_000, spread: 3_000 }

export const eventStreamType = 'text/event-stream; charset=utf-8'

/** Nobody may keep it, and no proxy may collect what comes, or compress it, for which some collect it as well. */
export const eventStreamHeaders = {
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  // A server that closes would wait for the connection after its stream has ended.
  Connection: 'close',
} as const

export interface EventStream {
  /** The body of the response. */
  body: Readable
  /** `event`: its name, if it is not an ordinary message. */
  send(data: string, event?: string): void
  end(): void
}

export interface EventStreams<Permission> {
  /** Undefined if the owner has as many as are allowed. `onEnd` is called once, whoever ends it. */
  open(owner: string, permission: Permission, onEnd: () => void): EventStream | undefined
  endAll(): void
}

export interface EventStreamsOptions<Permission> {
  maxPerOwner: number
  /** Of these, those that may go on. All streams end if it fails. */
  stillAllowed(permissions: readonly Permission[]): Promise<ReadonlySet<Permission>>
  /** Whether the process is shutting down. */
  isEnding(): boolean
}

interface OpenStream<Permission> extends EventStream {
  owner: string
  permission: Permission
  beat(now: number): void
}

export function createEventStreams<Permission>({
  maxPerOwner,
  stillAllowed,
  isEnding,
}: EventStreamsOptions<Permission>): EventStreams<Permission> {
  const open = new Set<OpenStream<Permission>>()
  let timer: NodeJS.Timeout | undefined
  let isChecking = false

  function endAll(): void {
    for (const stream of open) stream.end()
  }

  async function check(): Promise<void> {
    if (isEnding()) return endAll()
    const now = performance.now()
    for (const stream of open) stream.beat(now)
    if (isChecking) return
    isChecking = true
    const checked = [...open]
    const allowed = await stillAllowed(checked.map(({ permission }) => permission)).catch(() => new Set<Permission>())
    for (const stream of checked) if (!allowed.has(stream.permission)) stream.end()
    isChecking = false
  }

  function closed(stream: OpenStream<Permission>): void {
    open.delete(stream)
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    open(owner, permission, onEnd) {
      const ofOwner = [...open].filter((stream) => stream.owner === owner)
      if (ofOwner.length >= maxPerOwner) return undefined
      const stream: OpenStream<Permission> = { ...createStream(), owner, permission }
      stream.body.once('close', () => {
        closed(stream)
        onEnd()
      })
      open.add(stream)
      timer ??= setInterval(() => void check(), checkEveryMs).unref()
      return stream
    },
    endAll,
  }
}

function createStream(): EventStream & { beat(now: number): void } {
  /** What comes next when the reader takes more; a later message replaces it. */
  let next: string | undefined
  let takesMore = false
  let isOver = false
  let lastAt = performance.now()
  // It keeps one message at most; the rest of what is under way is in the buffers of the connection.
  const body = new Readable({
    highWaterMark: 1,
    read() {
      takesMore = true
      flush()
    },
  })
  body.push(`retry: ${retryMs}\n\n`)

  function flush(): void {
    if (!takesMore || next === undefined || isOver || body.destroyed) return
    const text = next
    next = undefined
    lastAt = performance.now()
    takesMore = body.push(text)
  }

  return {
    body,
    send(data, event) {
      const lines = data.split('\n').map((line) => `data: ${line}\n`)
      next = `${event === undefined ? '' : `event: ${event}\n`}${lines.join('')}\n`
      flush()
    },
    end() {
      if (isOver || body.destroyed) return
      flush()
      isOver = true
      body.push(`retry: ${Math.round(retryAfterEndMs.from + Math.random() * retryAfterEndMs.spread)}\n\n`)
      body.push(null)
      setTimeout(() => body.destroy(), maxGoodbyeMs).unref()
    },
    beat(now) {
      if (now - lastAt < heartbeatMs) return
      if (takesMore) {
        next ??= ': nothing new\n\n'
        flush()
      } else if (now - lastAt > maxStuckMs) body.destroy()
    },
  }
}
