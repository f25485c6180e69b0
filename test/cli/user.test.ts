import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { addIdentity } from '../../src/users/identities.ts'
import { findLink, type LinkPurpose } from '../../src/users/one-time-links.ts'
import { createUser } from '../../src/users/users.ts'
import { eventually } from '../support/eventually.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { linkIn, type Mail, mailsTo } from '../support/mails.ts'
import { launchServe } from '../support/serve-process.ts'

const publicUrl = 'https://stats.example.com'

let installation: Installation
let postgres: Postgres
let { footfall, json } = {} as Installation
before(async () => {
  installation = await install({ PUBLIC_URL: publicUrl })
  ;({ footfall, json } = installation)
  postgres = openPostgres(installation.addresses.postgres)
})
after(async () => {
  await postgres.end()
  await installation.remove()
})

async function linkOf(link: string, purpose: LinkPurpose) {
  assert.ok(link.startsWith(`${publicUrl}/${purpose}/`), link)
  return findLink(postgres, purpose, link.split('/').at(-1) as string)
}

test('serve prints a link for the first owner, made from PUBLIC_URL, and a new one at each start', {
  timeout: 600_000,
}, async () => {
  const links: string[] = []
  for (let start = 0; start < 2; start++) {
    const server = await launchServe(installation.addresses, { PUBLIC_URL: publicUrl })
    await server.untilReady()
    await eventually(async () => assert.match(server.log(), /\/setup\//))
    await server.stop()
    const [line = ''] = server
      .log()
      .split('\n')
      .filter((one) => one.includes('/setup/'))
    assert.equal(JSON.parse(line).level, 30)
    links.push(JSON.parse(line).link)
  }
  assert.equal(await linkOf(links[0] as string, 'setup'), undefined)
  assert.equal((await linkOf(links[1] as string, 'setup'))?.email, null)
  assert.equal((await json('account', 'list')).length, 0)
})

test('the first person gets a link that makes the owner, and the account is created', async () => {
  const { link } = await json('user', 'create', 'Maria@example.com')
  const found = await linkOf(link, 'setup')
  const [account] = await json('account', 'list')
  assert.deepEqual([found?.email, found?.accountId], ['maria@example.com', account.id])
  assert.deepEqual([account.name, account.plan], ['Main', 'Agency'])
  const viewer = await json('user', 'create', 'viewer@example.com', '--role', 'viewer')
  assert.equal((await linkOf(viewer.link, 'invitation'))?.role, 'viewer')
})

test('without its entry in the audit log there is no link', async () => {
  await postgres`ALTER TABLE audit_log ADD CONSTRAINT refused CHECK (subject <> 'unlogged@example.com') NOT VALID`
  for (const role of ['owner', 'viewer']) {
    assert.equal((await footfall('user', 'create', 'unlogged@example.com', '--role', role)).code, 1)
  }
  await postgres`ALTER TABLE audit_log DROP CONSTRAINT refused`
  const links = await postgres`SELECT purpose FROM one_time_links WHERE email = 'unlogged@example.com'`
  assert.deepEqual([...links], [])
})

test('later people get invitations as viewers; members do not', async () => {
  const [account] = await json('account', 'list')
  const id = await createUser(postgres, 'owner@example.com', 'none')
  await postgres`INSERT INTO members (account_id, user_id, role) VALUES (${account.id}, ${id}, 'owner')`
  const { link } = await json('user', 'create', 'tom@example.com')
  assert.equal((await linkOf(link, 'invitation'))?.role, 'viewer')
  const asOwner = await json('user', 'create', 'tom@example.com', '--role', 'owner')
  assert.equal((await linkOf(asOwner.link, 'invitation'))?.role, 'owner')
  assert.equal(await linkOf(link, 'invitation'), undefined)
  const entries =
    await postgres`SELECT actor, action, details FROM audit_log WHERE subject = 'tom@example.com' ORDER BY id`
  assert.deepEqual(
    [...entries],
    ['viewer', 'owner'].map((details) => ({ actor: 'command line', action: 'member.invited', details })),
  )
  for (const [words, hint] of [
    [['user', 'create', 'owner@example.com'], /footfall user reset owner@example\.com/],
    [['user', 'create', 'nobody'], /Write it like/],
    [['user', 'create', 'a@example.com', '--role', 'king'], /Roles are owner and viewer/],
    [['user', 'create', 'a@example.com', '--account', 'acct_x'], /footfall account list/],
    [['user', 'reset', 'unknown@example.com'], /footfall user list/],
  ] as const) {
    const { code, stderr, stdout } = await footfall(...words)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, hint)
  }
})

test('a reset link replaces the one before and turns the second factor off only when asked', async () => {
  await postgres`UPDATE users SET totp_secret = 'x' WHERE email = 'owner@example.com'`
  const first = await json('user', 'reset', 'owner@example.com')
  const isOn = async () => (await json('user', 'list'))[0].hasSecondFactor
  assert.equal(await isOn(), true)
  const second = await json('user', 'reset', 'OWNER@example.com', '--second-factor')
  assert.equal(await linkOf(first.link, 'reset'), undefined)
  assert.ok(await linkOf(second.link, 'reset'))
  assert.equal(await isOn(), false)
  const shown = await footfall('user', 'reset', 'owner@example.com')
  assert.match(shown.stdout, /^https:\/\/stats\.example\.com\/reset\/[\w-]{43}\n\nThe link .*once, within 24 hours/)
})

test('a reset disconnects single sign-on at once, and says so', async () => {
  const [user] = await postgres<{ id: string }[]>`SELECT id FROM users WHERE email = 'owner@example.com'`
  const connect = () =>
    addIdentity(postgres, user?.id as string, { issuer: 'https://id.example/', subject: 'x' }, 'other@example.com')
  const entries = () => postgres`
    SELECT actor, subject, details FROM audit_log WHERE action = 'user.sign_on_disconnected' ORDER BY id`
  await connect()
  const { disconnected } = await json('user', 'reset', 'owner@example.com')
  assert.deepEqual(disconnected, ['other@example.com at https://id.example/'])
  assert.equal(await connect(), true, 'it was gone')
  const { stdout } = await footfall('user', 'reset', 'owner@example.com')
  assert.match(stdout, /Single sign-on is disconnected: other@example\.com at https:\/\/id\.example\/ /)
  const entry = { actor: 'command line', subject: 'owner@example.com', details: disconnected[0] }
  assert.deepEqual([...(await entries())], [entry, entry])
  const again = await footfall('user', 'reset', 'owner@example.com')
  assert.doesNotMatch(again.stdout, /is disconnected/)
  assert.equal((await entries()).length, 2)
})

test('with a mail server, links to join are mailed, too, and a second factor that is turned off is announced', async () => {
  const environment = { ...installation.environment, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'stats@example.com' }
  const { stdout, stderr } = await runFootfall(['user', 'create', 'mailed@example.com'], environment)
  const [mail] = (await mailsTo(postgres, 'mailed@example.com')) as [Mail]
  assert.ok(mail, stderr)
  assert.match(mail.text, /^Whoever runs this Footfall invites you/m)
  assert.ok(stdout.startsWith(`${linkIn(mail)}\n`), stdout)
  assert.match(stdout, /A mail with it is on its way to mailed@example\.com\./)
  const without = await footfall('user', 'create', 'unmailed@example.com')
  assert.match(without.stdout, /Pass it on yourself: it is not mailed, no mail server is set up \(SMTP_URL\)\./)
  assert.deepEqual(await mailsTo(postgres, 'unmailed@example.com'), [])
  await postgres`UPDATE users SET totp_secret = 'x' WHERE email = 'owner@example.com'`
  const reset = await runFootfall(['user', 'reset', 'owner@example.com', '--second-factor'], environment)
  assert.match(reset.stdout, /Pass it on yourself/)
  const mails = await mailsTo(postgres, 'owner@example.com')
  assert.deepEqual(
    mails.map(({ kind, subject }) => [kind, subject]),
    [['second factor', 'Your second factor for Footfall is off']],
  )
})

test('the list shows everybody with their roles', async () => {
  const [user] = await json('user', 'list')
  assert.deepEqual([user.email, user.roles, user.signedInAt], ['owner@example.com', ['owner of Main'], null])
  assert.match((await footfall('user', 'list')).stdout, /owner@example\.com +owner of Main +off +never/)
})

test('changes of accounts on the command line are in the audit log', async () => {
  const { id } = await json('account', 'create', 'Logged')
  await json('account', 'plan', id, 'growth')
  await json('account', 'delete', id)
  const entries =
    await postgres`SELECT actor, action, subject, details FROM audit_log WHERE account_id = ${id} ORDER BY id`
  assert.deepEqual(
    entries.map((entry) => Object.values(entry)),
    [
      ['command line', 'account.created', 'Logged', 'Agency'],
      ['command line', 'account.plan_changed', 'Logged', 'Agency → Growth'],
      ['command line', 'account.deleted', 'Logged', ''],
    ],
  )
})
