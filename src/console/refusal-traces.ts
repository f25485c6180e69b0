// Traces of attacks on the console: a counter for each kind of refusal, and one line of the log per kind and minute. The log names no person
// and no whole address (decision D-210).
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import { minuteMs } from '../durations.ts'
import { truncatedAddress } from './addresses.ts'

/** Refusals that an attack causes again and again. */
const kinds = {
  wrong_password: 'wrong passwords',
  wrong_code: 'right passwords with a wrong code',
  too_many: 'attempts beyond the limits of guessing',
  busy: 'sign-ins while too many waited',
  closed_link: 'addresses of shared links that do not work',
  closed_mail_link: 'links of mails that do not work',
  opened_often: 'requests beyond the limits of shared links',
  spent_link: 'one-time links that do not work',
  unknown_identity: 'single sign-ons of nobody here',
  foreign_form: 'forms of another page or session',
} as const

type Kind = keyof typeof kinds

const everyMs = minuteMs

export interface RefusalTraces {
  /** Ignores kinds that say nothing about an attack. */
  note(kind: string, clientAddress: string): void
}

export function traceRefusals(registry: Registry, log: Logger): RefusalTraces {
  const refused = new Counter({
    name: 'footfall_console_refused_total',
    help: 'Requests that the console refused, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of Object.keys(kinds)) refused.inc({ reason }, 0)
  /** Refusals since the last log line of each kind. A kind has an entry for a minute after each line. */
  const unlogged = new Map<Kind, { count: number; address: string }>()

  function logLine(kind: Kind, count: number, address: string): void {
    log.warn({ refused: kind, count, address }, `the console refused ${kinds[kind]}`)
    unlogged.set(kind, { count: 0, address })
    setTimeout(() => {
      const { count: more = 0, address: last = '' } = unlogged.get(kind) ?? {}
      unlogged.delete(kind)
      if (more > 0) logLine(kind, more, last)
    }, everyMs).unref()
  }

  return {
    note(kind, clientAddress) {
      if (!isKind(kind)) return
      refused.inc({ reason: kind })
      const address = truncatedAddress(clientAddress)
      const waiting = unlogged.get(kind)
      if (!waiting) logLine(kind, 1, address)
      else unlogged.set(kind, { count: waiting.count + 1, address })
    },
  }
}

const isKind = (text: string): text is Kind => Object.hasOwn(kinds, text)
