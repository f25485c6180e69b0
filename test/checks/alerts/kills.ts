// Processes that judge are killed with SIGKILL between finding an alert and noting it, and at random moments around that: one message in the end, for
// the begin and for the end. Two processes run at a time. The clock is the real one, so this also measures how soon a rise is found.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createSite } from '../../../src/accounts/sites.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { eventOf } from '../../support/events.ts'
import { seeded } from '../../support/random.ts'
import { type Check, pause } from '../runner.ts'
import { addAlertTo, addWebhookTo, type OwnStores, openOwnStores } from './own-stores.ts'

const main = new URL('./checking-process.ts', import.meta.url).pathname
const maxFoundMs = 60_000

export async function checkKills(check: Check, kills: number) {
  const stores = await openOwnStores(check)
  const { postgres, accountId } = stores
  const random = seeded(`kills ${check.seed}`)
  const running = new Set<ChildProcess>()
  check.onEnd(() => {
    for (const one of running) one.kill('SIGKILL')
  })
  const start = (stops: boolean): ChildProcess => {
    const child = spawn(process.execPath, [main], {
      env: {
        ...process.env,
        TEST_STORES: JSON.stringify(stores.addresses),
        STOP_AFTER_FINDING: stops ? 'yes' : 'no',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.add(child)
    return child
  }
  const kill = async (child: ChildProcess): Promise<void> => {
    running.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  let killedWhileNoting = 0
  for (let round = 0; round < kills; round++) {
    const siteId = await createSite(postgres, { accountId, domain: `killed-${round}.example` })
    await addWebhookTo(postgres, siteId)
    await addAlertTo(postgres, siteId, { kind: 'many', threshold: 5 })
    await record(stores, siteId)
    await dueNow(stores)
    const isBetween = round % 2 === 0
    const victim = start(isBetween)
    await once(victim.stdout as NodeJS.ReadableStream, 'data')
    if (isBetween) killedWhileNoting++
    else await pause(random.below(40))
    await kill(victim)
    if (isBetween && (await messagesOf(stores, siteId)).join() !== '0,0') check.fault('noted before it was told')
    await dueNow(stores)
    const others = [start(false), start(false)]
    await waitFor(check, stores, siteId, 1)
    // What would be told twice would be told by the next checks.
    for (let times = 0; times < 2; times++) {
      await dueNow(stores)
      await untilChecked(stores)
    }
    const messages = await messagesOf(stores, siteId)
    if (messages.join() !== '1,1')
      check.fault('not told once', `round ${round}: ${messages[0]} mails, ${messages[1]} webhooks`)
    for (const one of others) await kill(one)
    check.say(`kill ${round + 1}: ${isBetween ? 'between finding and noting' : 'around noting'}`)
  }
  return { kills, killedWhileNoting, foundAfterMs: await timeToFind(check, stores, start) }
}

/** With the pauses of the real loop. */
async function timeToFind(check: Check, stores: OwnStores, start: (stops: boolean) => ChildProcess): Promise<number> {
  const { postgres, accountId } = stores
  const siteId = await createSite(postgres, { accountId, domain: 'found.example' })
  await addWebhookTo(postgres, siteId)
  await addAlertTo(postgres, siteId, { kind: 'many', threshold: 5 })
  start(false)
  await dueNow(stores)
  await untilChecked(stores)
  await record(stores, siteId)
  const began = performance.now()
  await waitFor(check, stores, siteId, 1)
  const found = Math.round(performance.now() - began)
  if (found > maxFoundMs) check.slow('found late', `${found} ms`)
  return found
}

/** Seven visitors a moment ago. */
async function record({ clickhouse }: OwnStores, siteId: string): Promise<void> {
  const events = Array.from({ length: 7 }, (_, index) =>
    eventOf({ at: new Date(Date.now() - 1_000).toISOString(), visitor: `${index}` }, siteId, 'UTC'),
  )
  await recordBatch(clickhouse, { id: randomUUID(), events })
}

/** As if the last check was a minute ago; a killed process leaves its lease. */
async function dueNow({ postgres }: OwnStores): Promise<void> {
  await postgres`UPDATE alert_checks SET checked_at = now() - interval '1 minute'`
  await postgres`DELETE FROM leases`
}

async function untilChecked({ postgres }: OwnStores): Promise<void> {
  for (;;) {
    const rows = await postgres`SELECT FROM alert_checks WHERE checked_at > now() - interval '50 seconds'`
    if (rows.length > 0) return
    await pause(100)
  }
}

async function waitFor(check: Check, stores: OwnStores, siteId: string, count: number): Promise<void> {
  const until = performance.now() + 90_000
  while (performance.now() < until) {
    const [mails, webhooks] = await messagesOf(stores, siteId)
    if (mails >= count && webhooks >= count) return
    await pause(100)
  }
  check.fault('never told', siteId)
}

/** Mails name the site in encrypted text only, so they are counted by what the webhook of the site got and the number of all. */
async function messagesOf({ postgres }: OwnStores, siteId: string): Promise<[mails: number, webhooks: number]> {
  const [row] = await postgres<[{ mails: number; webhooks: number }]>`
    SELECT (SELECT count(*)::int FROM outbox WHERE queued_at >= (SELECT created_at FROM alerts WHERE site_id = ${siteId})) AS mails,
      (SELECT count(*)::int FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id WHERE site_id = ${siteId}) AS webhooks`
  return [row.mails, row.webhooks]
}
