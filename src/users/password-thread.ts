// Hashes passwords on a thread with low priority, so that API and collector get the cores first (decision D-182).
import { type Argon2Parameters, argon2Sync } from 'node:crypto'
import { getPriority, setPriority } from 'node:os'
import { type MessagePort, parentPort } from 'node:worker_threads'

/** A third of what the others get when all want the core, but never nothing: somebody waits for it. */
const priority = 5
/** After a hash the thread rests for as long as it took, but no longer than this: sign-ins at full speed leave cores and caches to others. */
const mostRestMs = 50

// On Linux 0 is this thread. Elsewhere it is the whole process, which must stay as it is.
// Only root may go back to a higher priority than the process was started with.
if (process.platform === 'linux') setPriority(0, Math.max(priority, getPriority(0)))

/** What is to be hashed, and where the hash goes. */
export interface PasswordJob {
  parameters: Argon2Parameters
  answer: MessagePort
}

/** Nobody ever wakes it: it is there to wait for time to pass. */
const never = new Int32Array(new SharedArrayBuffer(4))

parentPort?.on('message', ({ parameters, answer }: PasswordJob) => {
  const began = performance.now()
  answer.postMessage(argon2Sync('argon2id', parameters))
  answer.close()
  Atomics.wait(never, 0, 0, Math.min(performance.now() - began, mostRestMs))
})
