import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordAction } from '../../src/users/audit-log.ts'
import { openConsole } from './console.ts'

test('the table refuses to change, delete or empty', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  await recordAction(postgres, {
    accountId: console.accountId,
    actor: 'a',
    action: 'user.signed_in',
    subject: 'only grows',
  })
  for (const statement of [
    `UPDATE audit_log SET actor = 'b' WHERE subject = 'only grows'`,
    `DELETE FROM audit_log WHERE subject = 'only grows'`,
    'TRUNCATE audit_log',
    'TRUNCATE audit_log, accounts CASCADE',
  ]) {
    await assert.rejects(postgres.unsafe(statement), /audit_log only grows/, statement)
  }
  const rows = await postgres`SELECT actor FROM audit_log WHERE subject = 'only grows'`
  assert.deepEqual([...rows], [{ actor: 'a' }])
})

test('the page shows who, what, when and from where, newest first, in pages of 50', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const owner = await console.signedIn('owner')
  const other = await console.addAccount()
  await recordAction(postgres, { accountId: other.accountId, actor: 'foreign', action: 'site.created', subject: 'x' })
  for (let index = 0; index < 120; index++) {
    await recordAction(postgres, {
      accountId: console.accountId,
      actor: 'command line',
      action: 'site.time_zone_changed',
      subject: `site${index}.example`,
      details: '<b>UTC</b>',
    })
  }
  const subjectsOf = (text: string) => Array.from(text.matchAll(/site(\d+)\.example/g), ([, index]) => Number(index))
  const expected = Array.from({ length: 120 }, (_, index) => 119 - index)
  const found: number[] = []
  let path: string | undefined = '/account/audit'
  for (let pages = 0; path; pages++) {
    assert.ok(pages < 4)
    const { text } = await owner.get(path)
    assert.ok(!text.includes('foreign') && !text.includes('<b>UTC</b>'))
    assert.match(text, /command line<\/td><td>changed the time zone of a site: /)
    found.push(...subjectsOf(text))
    path = /href="(\/account\/audit\?before=\d+)">Older/.exec(text)?.[1]
  }
  assert.deepEqual(found, expected)
})

test('a sign-in is recorded with the truncated address in every account of the user', async (t) => {
  const console = await openConsole(t)
  const { email } = await console.addUser('owner')
  const visitor = console.stranger()
  const fields = { email, password: 'correct horse battery staple' }
  await visitor.post('/login', '/login', fields, { 'X-Forwarded-For': '203.0.113.77' })
  const { text } = await visitor.get('/account/audit')
  assert.match(text, /signed in<\/td>\s*<td>203\.0\.113\.0</)
  assert.ok(!text.includes('203.0.113.77'))
})

test('a cursor that is no number shows the newest entries', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  await owner.post('/account/members', '/account/members/invite', { email: 'new@example.com', role: 'viewer' })
  for (const before of ['x', '-1', '1 OR 1=1', '9'.repeat(30), '']) {
    const page = await owner.get(`/account/audit?before=${encodeURIComponent(before)}`)
    assert.equal(page.status, 200)
    assert.ok(page.text.includes('new@example.com'), before)
  }
})
