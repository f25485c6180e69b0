// Hashes passwords on a thread with low priority, so that API and collector get the cores first (decision D-182).
import { type Argon2Parameters, argon2Sync } from 'node:crypto'
import { getPriority, setPriority } from 'node:os'
import { type MessagePort, parentPort } from 'node:worker_threads'

/** On a busy core it gets a third of the share of other threads, but never nothing: somebody waits for the hash. */
const priority = 5

// On Linux 0 is this thread. Elsewhere it is the whole process, which must stay as it is.
// Only root may go back to a higher priority than the process was started with.
if (process.platform === 'linux') setPriority(0, Math.max(priority, getPriority(0)))

/** The input of a hash, and the port for the result. */
export interface PasswordJob {
  parameters: Argon2Parameters
  answer: MessagePort
}

parentPort?.on('message', ({ parameters, answer }: PasswordJob) => {
  answer.postMessage(argon2Sync('argon2id', parameters))
  answer.close()
})
