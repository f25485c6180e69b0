// Thousands of reports become due at once. Four consoles send them, while the consoles and the mail server are killed again and again. Every report must
// arrive exactly once, or be listed as in doubt; and only those may be in doubt that a kill caught between the end of the message and the answer.
//   npm run check:mail
//   npm run check:mail -- --reports 400 --kills 8      the short form
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { dayMs } from '../../../src/durations.ts'
import { periodAfter, periodOf } from '../../../src/email-reports/due.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { recordBatch } from '../../../src/traffic/recording.ts'
import { eventOf } from '../../support/events.ts'
import { type LaunchedProcess, launchProcess } from '../../support/process.ts'
import { seeded } from '../../support/random.ts'
import { keySecretsSetting } from '../../support/serve-process.ts'
import { connect, createStores, disconnect, type Stores } from '../../support/stores.ts'
import { runCheck } from '../runner.ts'

const processes = 4
const sites = 20
/** PostgreSQL and this process read the same clock, at different moments. */
const clockMs = 20

const consoleMain = new URL('../../../src/console/main.ts', import.meta.url).pathname
const smtpMain = new URL('./smtp-process.ts', import.meta.url).pathname

await runCheck(
  {
    name: 'mail',
    options: { reports: 10_000, kills: 120 },
    seconds: ({ reports, kills }) => 240 + reports * 0.2 + kills * 8,
  },
  async (check, { reports, kills }) => {
    const created = await createStores()
    check.onEnd(created.remove)
    const stores = connect(created.addresses)
    check.onEnd(() => disconnect(stores))
    await migrate({ ...stores, cluster: clusterOf([stores.clickhouse]) })
    const folder = mkdtempSync(join(tmpdir(), 'footfall-mail-'))
    check.onEnd(() => rmSync(folder, { recursive: true }))
    const taken = join(folder, 'taken')

    const { postgres } = stores
    await postgres`UPDATE ledger SET began_at = now() - interval '1 year'` // the reports are due since Monday
    const period = await makeSubscriptions(stores, reports)
    const random = seeded(check.seed)
    /** When each sender was killed, and when the mail server was. */
    const killedSenders = new Map<string, number>()
    const killedServers: { before: number; after: number }[] = []

    const smtpPort = await freePort()
    let mailServer = await startMailServer(smtpPort, taken)
    check.onEnd(() => mailServer.kill('SIGKILL'))
    const environment = {
      DATABASE_URL: stores.addresses.postgres,
      CLICKHOUSE_URL: stores.addresses.clickhouse,
      KEY_SECRETS: keySecretsSetting,
      PUBLIC_URL: 'https://stats.example.com',
      SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
      MAIL_FROM: 'Footfall <stats@example.com>',
      LOG_LEVEL: 'info',
    }
    const startConsole = async (): Promise<LaunchedProcess> => {
      const port = await freePort()
      const metricsPort = `${await freePort()}`
      return launchProcess({
        name: 'console',
        command: [process.execPath, consoleMain],
        environment: { ...environment, CONSOLE_PORT: `${port}`, CONSOLE_METRICS_PORT: metricsPort },
        port,
        maxStopMs: 20_000,
      })
    }
    const consoles = await Promise.all(Array.from({ length: processes }, startConsole))
    check.onEnd(() => Promise.all(consoles.map((one) => one.kill())))

    // One kill for each share of the reports, so that all of them happen while reports are being sent.
    for (let kill = 0; kill < kills; kill++) {
      await untilTaken(taken, Math.floor((reports * 0.95 * kill) / kills), check.say)
      await pause(random.below(150))
      if (random.oneIn(6)) {
        const before = Date.now()
        mailServer.kill('SIGKILL')
        await once(mailServer, 'exit')
        killedServers.push({ before, after: Date.now() })
        mailServer = await startMailServer(smtpPort, taken)
        await skipPauses(postgres)
      } else {
        const victim = random.pick(await sendingOf(consoles))
        await victim.kill()
        killedSenders.set(senderOf(victim) as string, Date.now())
        consoles[consoles.indexOf(victim)] = await startConsole()
      }
      if (kill % 10 === 9) check.say(`${kill + 1} kills, ${takenIn(taken).length} taken`)
    }
    await untilFinished(postgres)

    const arrivals = Map.groupBy(takenIn(taken), ([, recipient]) => recipient)
    const rows = await postgres<Row[]>`
      SELECT email, count(outbox.id)::int AS messages, min(state) AS state, min(handed_over_at) AS "handedOver", min(outbox.changed_at) AS noted,
        min(sender::text) AS sender, min(problem) AS problem, next_period::text AS next
      FROM report_subscriptions LEFT JOIN outbox ON subscription_id = report_subscriptions.id AND period = ${period}::text::date
      GROUP BY report_subscriptions.id`
    let inDoubt = 0
    for (const { email, messages, state, handedOver, noted, sender, problem, next } of rows) {
      const copies = arrivals.get(email)?.length ?? 0
      if (copies > 1) check.fault('twice', email, state)
      if (messages !== 1 || next !== periodAfter('week', period))
        check.fault('not queued once', email, `${messages}`, next)
      if (state === 'sent' && copies !== 1) check.fault('lost', email)
      if (state !== 'sent' && state !== 'in doubt') check.fault('skipped', email, state)
      if (state !== 'in doubt') continue
      inDoubt++
      // Its sender was killed after the hand-over; or the mail server was, between the hand-over and the note about it.
      const at = (handedOver?.getTime() ?? 0) - clockMs
      const wasSenderKilled = (killedSenders.get(sender) ?? 0) >= at
      const wasServerKilled = killedServers.some(
        ({ before, after }) => after >= at && before <= noted.getTime() + clockMs,
      )
      if (!wasSenderKilled && !wasServerKilled) check.fault('in doubt without a kill', email, problem)
    }
    if (rows.length !== reports) check.fault('subscriptions', `${rows.length} of ${reports}`)
    const arrivedInDoubt = rows.filter(({ state, email }) => state === 'in doubt' && arrivals.has(email)).length
    return {
      killedProcesses: killedSenders.size,
      killedServers: killedServers.length,
      sent: arrivals.size,
      inDoubt,
      arrivedInDoubt,
    }
  },
)

interface Row {
  email: string
  messages: number
  state: string
  handedOver: Date | null
  noted: Date
  sender: string
  problem: string
  next: string
}

/** Weekly reports of some sites with a little traffic, all due now. Returns the first day of their week. */
async function makeSubscriptions(stores: Stores, reports: number): Promise<string> {
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Many readers', plan: 'Agency' })
  const thisWeek = periodOf('week', new Date().toISOString().slice(0, 10))
  const period = periodOf('week', new Date(Date.parse(thisWeek) - 7 * dayMs).toISOString().slice(0, 10))
  const ids: string[] = []
  for (let index = 0; index < sites; index++) {
    const siteId = await createSite(postgres, { accountId, domain: `site-${index}.example` })
    ids.push(siteId)
    const events = Array.from({ length: 50 }, (_, event) =>
      eventOf({ at: `${period}T${String(event % 24).padStart(2, '0')}:00:00Z`, visitor: `${event}` }, siteId, 'UTC'),
    )
    await recordBatch(clickhouse, { id: randomUUID(), events })
  }
  await postgres`
    INSERT INTO report_subscriptions
      (id, account_id, site_id, email, every, hour, time_zone, next_period, look_at, confirmed_at, created_by)
    SELECT 'rep_' || translate(lpad(number::text, 16, '0'), '0123456789', 'abcdefghij'), ${accountId}, (${ids}::text[])[1 + number % ${sites}::int],
      'reader' || number || '@example.com', 'week', 0, 'UTC', ${period}::text::date, now(), now(), 'check'
    FROM generate_series(1, ${reports}::int) AS number`
  return period
}

function senderOf(one: LaunchedProcess): string | undefined {
  return /"sender":"([^"]+)"/.exec(one.log())?.[1]
}

/** The consoles that send by now: whoever kills another one, which still starts, proves nothing. */
async function sendingOf(consoles: readonly LaunchedProcess[]): Promise<LaunchedProcess[]> {
  for (;;) {
    const sending = consoles.filter((one) => senderOf(one) !== undefined)
    if (sending.length > 0) return sending
    await pause(100)
  }
}

async function startMailServer(port: number, file: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [smtpMain, `${port}`, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

/** Message and recipient of everything that the mail server has taken. */
function takenIn(file: string): [id: string, recipient: string][] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => line.split(' ') as [string, string])
}

async function untilTaken(file: string, count: number, say: (text: string) => void): Promise<void> {
  for (let waited = 0; takenIn(file).length < count; waited++) {
    if (waited % 300 === 299) say(`${takenIn(file).length} of ${count} taken`)
    await pause(100)
  }
}

async function untilFinished(postgres: Postgres): Promise<void> {
  for (;;) {
    const [left] = await postgres<[{ messages: number; subscriptions: number }]>`
      SELECT (SELECT count(*)::int FROM outbox WHERE state IN ('waiting', 'sending')) AS messages,
        (SELECT count(*)::int FROM report_subscriptions WHERE look_at <= now()) AS subscriptions`
    if (left.messages + left.subscriptions === 0) return
    await skipPauses(postgres)
    await pause(1_000)
  }
}

/** The pauses after failures end at 24 hours, and no message may fail for good because they are left out here. */
async function skipPauses(postgres: Postgres): Promise<void> {
  await postgres`UPDATE outbox SET next_attempt_at = now(), failures = 0 WHERE state = 'waiting'`
}
