// Hashes passwords on a thread with low priority, so that API and collector get the cores first (decision D-182).
import { type Argon2Parameters, argon2Sync } from 'node:crypto'
import { getPriority, setPriority } from 'node:os'
import { type MessagePort, parentPort } from 'node:worker_threads'

/** A third of what the others get when all want the core, but never nothing: somebody waits for it. */
const priority = 5

// On Linux 0 is this thread. Elsewhere it is the whole process, which must stay as it is.
// Only root may go back to a higher priority than the process was started with.
if (process.platform === 'linux') setPriority(0, Math.max(priority, getPriority(0)))

/** What is to be hashed, and where the hash goes. */
export interface PasswordJob {
  parameters: Argon2Parameters
  answer: MessagePort
}

parentPort?.on('message', ({ parameters, answer }: PasswordJob) => {
  answer.postMessage(argon2Sync('argon2id', parameters))
  answer.close()
})
