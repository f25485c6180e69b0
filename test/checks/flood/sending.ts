import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Check } from '../fuzz/runner.ts'
import type { Answers, Order } from './sender.ts'

/** In a process of its own, so that whoever is measured meanwhile does not wait for it. */
export async function startSending(check: Check, order: Order): Promise<Answers> {
  const child = fork(new URL('sender.ts', import.meta.url))
  check.onEnd(() => child.kill('SIGKILL'))
  child.send(order)
  const [answers] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [{}])])) as [Answers]
  child.kill('SIGKILL')
  return answers
}
