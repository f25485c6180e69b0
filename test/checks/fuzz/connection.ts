// Raw connections to the API: one that stays open for pipelines, and one for bytes that break it.
import { connect, type Socket } from 'node:net'
import type { Random } from '../../support/random.ts'
import { type Answer, AnswerReader, Malformed } from './answers.ts'
import type { ByteCase } from './bytes.ts'
import type { Request } from './requests.ts'

/** Far above the API's own timeouts: a later response never comes. */
const answerMs = 15_000

export interface Received {
  answers: Answer[]
  /** Why responses are missing, or undefined when all arrived. */
  broken?: string
  /** Bytes after the last expected response. */
  rest: string
}

abstract class Connection {
  protected socket: Socket
  protected reader = new AnswerReader()
  protected closed = false
  #wake: () => void = () => {}

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (chunk: Buffer) => {
      this.reader.push(chunk)
      this.#wake()
    })
    this.socket.on('error', () => {}) // a reset ends it like a close; the number of responses shows what is missing
    this.socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  /** Waits until the condition is true, as long as more bytes may arrive. */
  protected async until(isDone: () => boolean): Promise<boolean> {
    const deadline = performance.now() + answerMs
    while (!isDone()) {
      const left = deadline - performance.now()
      if (this.closed || left <= 0) return false
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return true
  }

  protected async receive(requests: readonly Request[]): Promise<Received> {
    const answers: Answer[] = []
    try {
      await this.until(() => {
        for (let next = requests[answers.length]; next; next = requests[answers.length]) {
          const answer = this.reader.next(next.method !== 'HEAD')
          if (!answer) return false
          answers.push(answer)
        }
        return true
      })
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      return { answers, broken: `malformed: ${error.message}`, rest: this.reader.rest.toString('latin1', 0, 500) }
    }
    const broken = answers.length < requests.length && (this.closed ? 'closed' : 'no answer')
    return { answers, ...(broken && { broken }), rest: this.reader.rest.toString('latin1', 0, 500) }
  }

  destroy(): void {
    this.socket.destroy()
  }
}

/** A connection that is used as long as the server keeps it open. */
export class Pipeline extends Connection {
  get isOpen(): boolean {
    return !this.closed && this.socket.writable
  }

  /** Sends all requests at once, or in pieces of a few bytes, and waits for all responses. */
  async exchange(requests: readonly Request[], pieces?: Random): Promise<Received> {
    const bytes = requests.map((request) => request.bytes).join('')
    if (pieces) await this.#dribble(bytes, pieces)
    else this.socket.write(bytes, 'latin1')
    const received = await this.receive(requests)
    if (received.answers.at(-1)?.headers.get('connection') === 'close') {
      if (!(await this.until(() => this.closed))) received.broken ??= 'not closed as announced'
    }
    return { ...received, rest: this.reader.rest.toString('latin1', 0, 500) }
  }

  async #dribble(bytes: string, random: Random): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const size = random.oneIn(4) ? 1 : 1 + random.below(Math.max(8, bytes.length / 20))
      this.socket.write(bytes.slice(from, from + size), 'latin1')
      from += size
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

export interface Broken extends Received {
  /** The responses after those to the good requests. */
  after: Answer[]
}

/** A connection for one case: good requests, then bytes that break it. */
export class Breakable extends Connection {
  async send(good: readonly Request[], tail: string, next: ByteCase['next']): Promise<Broken> {
    this.socket.write(good.map((request) => request.bytes).join('') + tail, 'latin1')
    if (next === 'reset') {
      await new Promise((resolve) => this.socket.once('connect', resolve).once('close', resolve))
      await new Promise((resolve) => setImmediate(resolve))
      this.socket.resetAndDestroy()
      return { answers: [], rest: '', after: [] }
    }
    const received = await this.receive(good)
    const after: Answer[] = []
    if (received.broken) return { ...received, after }
    // The server treats a half-closed connection as gone, so the client waits for its responses first.
    if (next === 'hang up') this.socket.end()
    if (!(await this.until(() => this.closed))) return { ...received, after, broken: 'never closed' }
    try {
      for (let one = this.reader.next('perhaps'); one; one = this.reader.next('perhaps')) after.push(one)
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      return { ...received, after, broken: `malformed: ${error.message}` }
    }
    return { ...received, after, rest: this.reader.rest.toString('latin1', 0, 500) }
  }
}
