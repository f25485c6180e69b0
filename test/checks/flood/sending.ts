import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Check } from '../runner.ts'
import type { AnswerCounts, Order } from './sender.ts'

/** Runs in a separate process, so that it does not delay the measurements. */
export async function startSending(check: Check, order: Order): Promise<AnswerCounts> {
  const child = fork(new URL('sender.ts', import.meta.url))
  check.onEnd(() => child.kill('SIGKILL'))
  child.send(order)
  const [answers] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [{}])])) as [
    AnswerCounts,
  ]
  child.kill('SIGKILL')
  return answers
}
