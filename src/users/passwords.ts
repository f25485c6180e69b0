// Passwords are stored as argon2id in PHC format, which names the cost, so that it can be raised later.
import { type Argon2Parameters, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { createPasswordQueue } from './password-queue.ts'
import type { PasswordJob } from './password-thread.ts'

export const minPasswordLength = 12
/** Longer texts only cost time. */
export const maxPasswordLength = 200

/** OWASP's parameters. */
const defaultCost: Cost = { memoryKib: 19_456, passes: 2 }
const saltBytes = 16
const hashBytes = 32

interface Cost {
  memoryKib: number
  passes: number
}

export interface Passwords {
  hash(password: string): Promise<string>
  /**
   * Without a hash it takes as long as with one, so the time does not reveal which addresses have an account or a password.
   * `requester`: the user of a known browser, or a shared link; undefined for strangers (users/password-queue.ts).
   */
  verify(password: string, hash: string | null | undefined, requester?: string): Promise<boolean>
}

/** One hash takes 50 ms of a core and 19 MiB, on a thread with low priority (decision D-182). */
export function createPasswords({ cost = defaultCost, maxWaiting = 40 } = {}): Passwords {
  const inTurn = createPasswordQueue(maxWaiting)

  const keyOf = (
    requester: string | undefined,
    password: string,
    salt: Buffer,
    { memoryKib, passes } = cost,
  ): Promise<Buffer> =>
    inTurn(requester, () =>
      derive({
        message: Buffer.from(password.normalize('NFKC')),
        nonce: salt,
        parallelism: 1,
        tagLength: hashBytes,
        memory: memoryKib,
        passes,
      }),
    )

  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      // Only somebody who is signed in or has a one-time link gets here.
      const key = await keyOf(randomUUID(), password, salt)
      return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=1$${unpadded(salt)}$${unpadded(key)}`
    },
    async verify(password, hash, requester) {
      const [, memoryKib, passes, salt, key] = shape.exec(hash ?? '') ?? []
      if (!salt || !key) {
        await keyOf(requester, password, randomBytes(saltBytes))
        return false
      }
      const derived = await keyOf(requester, password, Buffer.from(salt, 'base64'), {
        memoryKib: Number(memoryKib),
        passes: Number(passes),
      })
      return timingSafeEqual(derived, Buffer.from(key, 'base64'))
    },
  }
}

/** Reused, because starting a thread takes longer than a hash. */
let thread: Worker | undefined

async function derive(parameters: Argon2Parameters): Promise<Buffer> {
  thread ??= startThread()
  const { port1: result, port2: answer } = new MessageChannel()
  const key = once(result, 'message') as Promise<[Uint8Array]>
  const failed = once(result, 'close').then(() =>
    Promise.reject(new Error('The thread that hashes passwords has ended')),
  )
  thread.postMessage({ parameters, answer } satisfies PasswordJob, [answer])
  const [bytes] = await Promise.race([key, failed])
  return Buffer.from(bytes)
}

/** It does not keep the process alive; a hash that somebody waits for does. */
function startThread(): Worker {
  const worker = new Worker(new URL('password-thread.ts', import.meta.url))
  worker.unref()
  worker.once('exit', () => {
    thread = undefined
  })
  return worker
}

const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]{43})$/

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')
