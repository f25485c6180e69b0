// Mail as an operator and a reader see it: the commands, and a report from `footfall serve` to a real mail server and back.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { newId } from '../../src/accounts/ids.ts'
import { queueMessage } from '../../src/mail/outbox.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { startMailServer, type TestMailServer } from '../support/mail-server.ts'
import { launchServe } from '../support/serve-process.ts'
import { keySecrets } from '../support/stores.ts'

let installation: Installation
let mailServer: TestMailServer
let postgres: Postgres
let settings: Record<string, string>

before(async () => {
  mailServer = await startMailServer()
  settings = {
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'Footfall <stats@example.com>',
    PUBLIC_URL: 'https://stats.example.com',
  }
  installation = await install(settings)
  postgres = openPostgres(installation.addresses.postgres)
})

after(async () => {
  await postgres.end()
  await installation.remove()
  await mailServer.close()
})

test('footfall mail test shows what the mail server answers', async () => {
  const { footfall } = installation
  const { code, stdout } = await footfall('mail', 'test', 'Maria@example.com')
  assert.deepEqual([code, mailServer.received.map(({ to }) => to)], [0, ['maria@example.com']], stdout)
  mailServer.react(() => ({ at: 'recipient', code: 550, answer: 'no such user' }))
  const refused = await footfall('mail', 'test', 'nobody@example.com')
  mailServer.react(() => 'accept')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /550 no such user/)
  const down = await runFootfall(['mail', 'test', 'maria@example.com'], {
    ...installation.environment,
    SMTP_URL: 'smtp://127.0.0.1:1',
  })
  assert.match(down.stderr, /127\.0\.0\.1:1 cannot be used.*ECONNREFUSED[\s\S]*smtps:\/\//)
  const { SMTP_URL: _, MAIL_FROM: __, ...without } = installation.environment as Record<string, string>
  assert.match(
    (await runFootfall(['mail', 'test', 'maria@example.com'], without)).stderr,
    /No mail server is configured/,
  )
})

/** A weekly report that is due since Monday. */
async function subscribe(domain: string): Promise<string> {
  await installation.json('site', 'create', domain)
  await postgres`UPDATE ledger SET began_at = '2025-01-01'`
  const [row] = await postgres<{ id: string }[]>`
    INSERT INTO report_subscriptions
      (id, account_id, site_id, email, every, hour, time_zone, next_period, look_at, confirmed_at, created_by)
    SELECT ${newId('rep')}, account_id, id, 'maria@example.com', 'week', 0, 'UTC',
      date_trunc('week', now() - interval '7 days')::date, now(), now(), 'test'
    FROM sites WHERE domain = ${domain} RETURNING id`
  return row?.id as string
}

test('serve sends a due report once; one click ends it; doctor and mail list know', { timeout: 300_000 }, async (t) => {
  const id = await subscribe('example.com')
  mailServer.received.length = 0
  const server = await launchServe(installation.addresses, settings)
  t.after(() => server.kill())
  await server.untilReady()
  await eventually(async () => assert.equal(mailServer.received.length, 1), 60_000)
  const [mail] = mailServer.received
  const raw = (mail?.raw ?? '').replace(/=\r\n/g, '').replace(/\r\n[ \t]/g, ' ')
  assert.match(mail?.subject ?? '', /example=2Ecom=3A_no_visitors/) // encoded, because of the dash between the days
  assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m)
  const link = /^List-Unsubscribe: <(https:\/\/stats\.example\.com\/reports\/unsubscribe\/[^>]+)>/m.exec(raw)?.[1]
  assert.ok(link, raw.slice(0, 2_000))

  const [row] = await postgres<{ next: string; state: string }[]>`
    SELECT next_period::text AS next, state FROM report_subscriptions JOIN outbox ON subscription_id = report_subscriptions.id`
  const [{ thisWeek }] = await postgres<
    [{ thisWeek: string }]
  >`SELECT date_trunc('week', now())::date::text AS "thisWeek"`
  await eventually(async () => {
    const [{ state }] = await postgres<[{ state: string }]>`SELECT state FROM outbox`
    assert.equal(state, 'sent')
  })
  assert.equal(row?.next, thisWeek)
  assert.deepEqual(await installation.json('mail', 'list'), [])
  const findings = (await installation.json('doctor')) as { check: string; state: string }[]
  assert.equal(findings.find(({ check }) => check === 'Mail')?.state, 'ok')

  // As a mail program sends it: to the address of the header, without cookies.
  const answer = await fetch(link.replace('https://stats.example.com', server.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
  assert.equal(answer.status, 200)
  assert.equal((await postgres`SELECT FROM report_subscriptions WHERE id = ${id}`).length, 0)
})

test('mail list shows in full what the mail server answered', { timeout: 300_000 }, async (t) => {
  await subscribe('refused.example')
  mailServer.react(() => ({
    at: 'recipient',
    code: 550,
    answer: '5.1.1 <maria@example.com>: no such mailbox, says the server of the recipient',
  }))
  t.after(() => mailServer.react(() => 'accept'))
  const server = await launchServe(installation.addresses, settings)
  t.after(() => server.kill())
  await eventually(async () => {
    const { stdout } = await installation.footfall('mail', 'list')
    const [head, line, problem, ...more] = stdout.trimEnd().split('\n')
    assert.match(head ?? '', /^ID +TO +WHAT +STATE +QUEUED$/)
    assert.match(
      line ?? '',
      /^mail_\w+ +maria@example\.com +report of \d{4}-\d\d-\d\d +failed +\d{4}-\d\d-\d\d \d\d:\d\d$/,
    )
    assert.equal(problem, '  550 5.1.1 <maria@example.com>: no such mailbox, says the server of the recipient')
    assert.deepEqual(more, [])
  }, 60_000)
  await server.kill()
  const findings = (await installation.json('doctor')) as { check: string; state: string; found: string }[]
  assert.match(findings.find(({ check }) => check === 'Mail')?.found ?? '', /takes mail; 1 failed, 0 in doubt$/)
  await postgres`DELETE FROM report_subscriptions`
})

test('after a restore, a report that was due before it is listed as in doubt, and sent only on request', {
  timeout: 300_000,
}, async (t) => {
  await subscribe('other.example')
  const folder = mkdtempSync(join(tmpdir(), 'footfall-mail-'))
  const restored = await install(settings)
  const own = openPostgres(restored.addresses.postgres)
  t.after(async () => {
    await own.end()
    await restored.remove()
    rmSync(folder, { recursive: true })
  })
  const letter = { subject: 'A link', text: 'A link', html: '<p>A link</p>' }
  const link = { kind: 'reset', recipient: 'paul@example.com', accountId: null, letter } as const
  await queueMessage(postgres, { secrets: keySecrets }, link)
  assert.equal((await installation.footfall('backup', join(folder, 'backup'))).code, 0)
  const { code, stderr } = await restored.footfall('restore', join(folder, 'backup'))
  assert.equal(code, 0, stderr)
  assert.deepEqual(await restored.json('mail', 'list'), [], 'no link is in a backup')
  mailServer.received.length = 0
  const server = await launchServe(restored.addresses, settings)
  t.after(() => server.kill())
  await eventually(async () => {
    const [listed] = (await restored.json('mail', 'list')) as { state: string; problem: string }[]
    assert.equal(listed?.state, 'in doubt')
    assert.match(listed?.problem ?? '', /restored/)
  }, 60_000)
  assert.equal(mailServer.received.length, 0)
  const [{ id }] = await restored.json('mail', 'list', '--state', 'in doubt')
  assert.deepEqual(await restored.json('mail', 'retry', id), { retried: [id] })
  await eventually(async () => assert.equal(mailServer.received.length, 1), 60_000)
})
