import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { migrate } from '../cluster/migrate.ts'
import { exitWithin } from '../process/ending.ts'
import { Unavailable } from '../stores/breaker.ts'
import { isOutage } from '../stores/postgres.ts'
import { type Command, type Context, positionals } from './command.ts'
import { leftOf, whyNot } from './rewriting.ts'

const maxPauseMs = 2_000
/** Besides DRAIN_SECONDS, whose default is 3 s: containers are killed after 10 s. */
const maxEndMs = 6_500

export const serve: Command = {
  summary: 'Run all of Footfall on one port: console, API, collector and tracker, and the rollups',
  usage: '[--no-migrate]',
  options: { 'no-migrate': { type: 'boolean' } },
  optionHelp: { 'no-migrate': 'do not apply migrations first' },
  async run(input, context) {
    positionals(input, [])
    const ending = new AbortController()
    const ended = new Promise<void>((resolve) => {
      ending.signal.addEventListener('abort', () => resolve())
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ending.abort(signal))
    })
    // Loaded only here, because they would delay every other command by a third of a second.
    const [{ createLog }, { startAll }] = await Promise.all([import('../process/log.ts'), import('./all-processes.ts')])
    const { config } = context
    const log = createLog(config.LOG_LEVEL)
    const stopped = { data: { stopped: true }, show: () => 'Stopped.' }
    if (!input.options['no-migrate']) await Promise.race([migratePatiently(context, log, ending.signal), ended])
    if (ending.signal.aborted) return stopped
    const running = await startAll(config, log, context)
    await ended
    const drainSeconds = ending.signal.reason === 'SIGTERM' ? config.DRAIN_SECONDS : 0
    exitWithin(drainSeconds * 1000 + maxEndMs)
    await running.stop(drainSeconds)
    return stopped
  },
}

/** Waits for a store that is down (decision D-135). Any other failure of a migration needs a person. */
async function migratePatiently(context: Context, log: Logger, signal: AbortSignal): Promise<void> {
  let missing: string | undefined
  for (let pauseMs = 100; !signal.aborted; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      await migrate(context, {
        leftOut: (err) => log.warn({ err }, 'a ClickHouse is left out of migrations'),
        postponed(rewriting, obstacle) {
          const { message, hint } = whyNot(rewriting, obstacle)
          log.warn(`${leftOf(rewriting)}. ${message} ${hint}`)
        },
      })
      if (missing) log.info(`${missing} answers; both databases are up to date`)
      return
    } catch (error) {
      const before = missing
      missing = error instanceof Unavailable ? 'ClickHouse' : isOutage(error) ? 'PostgreSQL' : undefined
      if (!missing) throw error
      if (missing !== before) log.warn({ err: error }, `${missing} does not answer; migrations wait for it`)
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
  }
}
