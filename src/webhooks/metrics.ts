import { Counter, type Registry } from 'prom-client'
import type { DeliveryState } from './deliveries.ts'

/** What became of the delivery; `waiting` is tried again. */
const states: readonly DeliveryState[] = ['delivered', 'waiting', 'failed', 'in doubt']

/** Returns what counts an attempt. */
export function countAttempts(registry: Registry): (state: DeliveryState) => void {
  const attempts = new Counter({
    name: 'footfall_webhook_attempts_total',
    help: 'Attempts to deliver a message to a webhook, by the state of the delivery after it.',
    labelNames: ['state'],
    registers: [registry],
  })
  for (const state of states) attempts.inc({ state }, 0)
  return (state) => attempts.inc({ state })
}
