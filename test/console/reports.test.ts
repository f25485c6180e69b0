// Who gets reports by email: members and owners, confirmation by other addresses, limits, and what ends them (decision D-222).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { deleteAccount } from '../../src/accounts/accounts.ts'
import { queueDueReports } from '../../src/email-reports/queue-due.ts'
import { addMember } from '../../src/users/members.ts'
import { subscribe } from '../../src/users/report-changes.ts'
import { freshStores, patientPostgres } from '../support/fresh-stores.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, openConsole, type TestConsole } from './console.ts'
import { giveReport, lettersTo, linkIn, reportsIn, waitingReports } from './report-mails.ts'

const page = '/account/reports'
const weekly = { site: '', every: 'week', hour: '8', zone: 'Europe/Berlin' }
const someAddress = () => `${randomUUID()}@elsewhere.example`

async function idOf({ stores }: TestConsole, email: string): Promise<string> {
  const [row] = await stores.postgres<{ id: string }[]>`SELECT id FROM report_subscriptions WHERE email = ${email}`
  return row?.id as string
}

test('members subscribe themselves without a mail, change the hour and stop, and the log says so', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const viewer = await console.signedIn('viewer')
  const { accountId, domain } = console
  const added = await viewer.post(page, page, { ...weekly, site: domain, zone: 'europe/berlin' })
  assert.equal(added.headers.get('location'), `${page}?done=subscribed`)
  assert.deepEqual(await reportsIn(console, accountId), [`${viewer.email} week ${domain} 8 Europe/Berlin`])
  assert.deepEqual(await lettersTo(console, viewer.email), [])

  const id = await idOf(console, viewer.email)
  const changed = await viewer.post(`${page}/${id}`, `${page}/${id}`, { hour: '23', zone: 'Asia/Tokyo' })
  assert.equal(changed.headers.get('location'), `${page}?done=changed`)
  assert.deepEqual(await reportsIn(console, accountId), [`${viewer.email} week ${domain} 23 Asia/Tokyo`])
  const stopped = await viewer.post(page, `${page}/${id}/stop`)
  assert.equal(stopped.headers.get('location'), `${page}?done=ended`)
  assert.deepEqual(await reportsIn(console, accountId), [])

  const from = '127.0.0.0'
  assert.deepEqual(await entriesOf(console, viewer.email), [
    [viewer.email, 'report.subscribed', `every week about ${domain}, at 8:00, Europe/Berlin (${id})`, from],
    [
      viewer.email,
      'report.changed',
      `every week about ${domain}, at 8:00, Europe/Berlin → at 23:00, Asia/Tokyo (${id})`,
      from,
    ],
    [viewer.email, 'report.ended', `every week about ${domain}, at 23:00, Asia/Tokyo (${id})`, from],
  ])
})

test('viewers subscribe nobody else, and see and change only their own reports', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const outside = someAddress()
  for (const email of [owner.email, outside]) {
    const refused = await viewer.post(page, page, { ...weekly, email })
    assert.equal(refused.status, 403)
    assert.match(refused.text, /Only owners may do that/)
  }
  assert.deepEqual(await reportsIn(console, console.accountId), [])
  assert.deepEqual(await lettersTo(console, outside), [])

  await giveReport(console, { email: owner.email, userId: owner.userId })
  await giveReport(console, { email: viewer.email, userId: viewer.userId })
  const ofOwner = await idOf(console, owner.email)
  const list = await viewer.get(page)
  assert.ok(list.text.includes(viewer.email) && !list.text.includes(owner.email))
  assert.ok((await owner.get(page)).text.includes(viewer.email))
  assert.equal((await viewer.get(`${page}/${ofOwner}`)).status, 404)
  const before = await reportsIn(console, console.accountId)
  for (const action of ['', '/stop']) {
    const { status } = await viewer.post(page, `${page}/${ofOwner}${action}`, { hour: '1', zone: 'UTC' })
    assert.equal(status, 404)
  }
  assert.deepEqual(await reportsIn(console, console.accountId), before)
})

test('sites and reports of another account are refused like unknown ones', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const owner = await console.signedIn('owner')
  const other = await console.addAccount()
  const foreign = await giveReport(console, { email: someAddress(), accountId: other.accountId })
  const unknown = await owner.post(page, page, { ...weekly, site: 'unknown.example' })
  const refused = await owner.post(page, page, { ...weekly, site: other.domain })
  assert.deepEqual([refused.status, refused.text], [404, unknown.text])
  assert.equal((await owner.post(page, `${page}/${foreign}/stop`)).status, 404)
  assert.equal((await reportsIn(console, other.accountId)).length, 1)
  // Nor with the function that the page calls.
  const outbox = { secrets: keySecrets, publicUrl: console.url }
  const requester = { accountId: console.accountId, userId: owner.userId, actor: { actor: owner.email } }
  const wanted = { siteId: other.siteId, email: owner.email, interval: 'week', hour: 8, timeZone: 'UTC' } as const
  await assert.rejects(subscribe(console.stores.postgres, outbox, requester, wanted), { reason: 'not_found' })
})

test('an owner subscribes members at once; another address gets one mail, and reports only after it confirms', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const { postgres } = console.stores
  const [owner, member] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const outside = someAddress()
  await owner.post(page, page, { ...weekly, email: member.email.toUpperCase() })
  const asked = await owner.post(page, page, { ...weekly, email: outside })
  assert.equal(asked.headers.get('location'), `${page}?done=asked`)
  assert.deepEqual(
    (await reportsIn(console, console.accountId)).sort(),
    [`${member.email} week 8 Europe/Berlin`, `${outside} week 8 Europe/Berlin unconfirmed`].sort(),
  )
  const [letter, ...others] = await lettersTo(console, outside)
  assert.equal(others.length, 0)
  assert.equal(letter?.subject, 'Please confirm: a weekly report about all sites of A test')
  assert.ok(letter?.text.includes(`${owner.email} wants Footfall to send a weekly report about all sites of A test`))

  // Reports that are due go only to the member.
  await postgres`UPDATE report_subscriptions SET next_period = '2026-01-05', look_at = now() WHERE account_id = ${console.accountId}`
  await queueDueReports(postgres)
  assert.ok((await waitingReports(console, member.email)) > 0)
  assert.equal(await waitingReports(console, outside), 0)

  const path = linkIn(console, letter)
  const confirmed = await console.stranger().post(path, path, { confirm: 'yes' })
  assert.equal(confirmed.status, 200)
  assert.match(confirmed.text, /The report is confirmed/)
  // What was due before nobody had asked for.
  await queueDueReports(postgres)
  assert.equal(await waitingReports(console, outside), 0)
  await postgres`UPDATE report_subscriptions SET next_period = '2026-01-05', look_at = now() WHERE email = ${outside}`
  await queueDueReports(postgres)
  assert.ok((await waitingReports(console, outside)) > 0)
  const id = await idOf(console, outside)
  assert.deepEqual(await entriesOf(console, outside), [
    [owner.email, 'report.subscribed', `every week about all sites, at 8:00, Europe/Berlin (${id})`, '127.0.0.0'],
    ['somebody', 'report.confirmed', `every week about all sites, with the link of the mail (${id})`, ''],
  ])
})

test('the same report is not made twice; asking an address again replaces the link', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const owner = await console.signedIn('owner')
  const outside = someAddress()
  await owner.post(page, page, weekly)
  const again = await owner.post(page, page, { ...weekly, hour: '9' })
  assert.equal(again.status, 422)
  assert.match(again.text, /has this report already/)
  for (let time = 0; time < 2; time++) await owner.post(page, page, { ...weekly, email: outside })
  assert.equal((await reportsIn(console, console.accountId)).length, 2)
  const [first, second] = (await lettersTo(console, outside)).map((letter) => linkIn(console, letter))
  const open = async (path: string | undefined) => (await console.stranger().get(path as string)).status
  assert.deepEqual([await open(first), await open(second)], [404, 200])
})

test('mistakes keep what was typed', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const owner = await console.signedIn('owner')
  for (const [fields, words] of [
    [{ email: 'maria' }, 'This is not an email address'],
    [{ zone: 'Mars/Olympus' }, 'Mars/Olympus is not a time zone'],
    [{ hour: '24' }, 'This is not an hour'],
    [{ every: 'day' }, 'How often is missing'],
  ] as const) {
    const typed = { ...weekly, site: console.domain, email: 'maria@example.com', ...fields }
    const { status, text } = await owner.post(page, page, typed)
    assert.deepEqual([words, status, text.includes(words)], [words, 422, true])
    assert.ok(text.includes(`value="${typed.zone}"`) && text.includes(`value="${typed.email}"`))
    assert.ok(text.includes(`<option value="${console.domain}" selected>`))
  }
  assert.deepEqual(await reportsIn(console, console.accountId), [])
})

test('markup in names and addresses stays text, in pages and mails', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const { postgres } = console.stores
  const owner = await console.signedIn('owner')
  const markup = `<img/src=x/onerror=alert(1)>`
  await postgres`UPDATE accounts SET name = ${markup} WHERE id = ${console.accountId}`
  const email = `${markup}${randomUUID()}@elsewhere.example`
  await owner.post(page, page, { ...weekly, email })
  const [letter] = await lettersTo(console, email)
  const link = linkIn(console, letter)
  const pages = [await owner.get(page), await owner.get(`${page}/${await idOf(console, email)}`)]
  const texts = [letter?.html ?? '', (await console.stranger().get(link)).text, ...pages.map(({ text }) => text)]
  for (const text of texts) {
    assert.ok(text.includes('&#60;img/src=x'), text)
    assert.ok(!text.includes('<img'))
  }
})

test('without a mail server the page says why, lists what is there, and adds nothing', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  await giveReport(console, { email: owner.email, userId: owner.userId })
  const { text } = await owner.get(page)
  assert.match(text, /SMTP_URL[\s\S]*MAIL_FROM[\s\S]*docs\/mail\.md/)
  assert.ok(text.includes(owner.email) && !text.includes('name="every"'))
  const refused = await owner.post(page, page, { ...weekly, every: 'month' })
  assert.equal(refused.status, 422)
  assert.equal((await reportsIn(console, console.accountId)).length, 1)
  await owner.post(page, `${page}/${await idOf(console, owner.email)}/stop`)
  assert.deepEqual(await reportsIn(console, console.accountId), [])
})

test('three mails an hour go to an address, and fifty come from an account, however many processes ask', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const { addresses, postgres } = console.stores
  const processes = [patientPostgres(addresses.postgres), patientPostgres(addresses.postgres)]
  t.after(() => Promise.all(processes.map((one) => one.end())))
  const outbox = { secrets: keySecrets, publicUrl: console.url }
  const ask = async (nth: number, accountId: string, userId: string, email: string) =>
    subscribe(
      processes[nth % 2] as (typeof processes)[0],
      outbox,
      { accountId, userId, actor: { actor: 'a test' } },
      { siteId: null, email, interval: 'week', hour: 8, timeZone: 'UTC' },
    )
  const counts = (outcomes: string[]) => [
    outcomes.filter((one) => one === 'asked').length,
    outcomes.filter((one) => one === 'too many').length,
  ]

  // Owners of several accounts ask one address.
  const owners = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { accountId } = await console.addAccount()
      return { accountId, userId: (await console.addUser('owner', accountId)).id }
    }),
  )
  const one = someAddress()
  const ofAddress = await Promise.all(owners.map(({ accountId, userId }, nth) => ask(nth, accountId, userId, one)))
  assert.deepEqual(counts(ofAddress), [3, 5])
  assert.equal((await lettersTo(console, one)).length, 3)

  // One account asks many addresses.
  const { id } = await console.addUser('owner')
  const many = Array.from({ length: 56 }, () => someAddress())
  const ofAccount = await Promise.all(many.map((email, nth) => ask(nth, console.accountId, id, email)))
  assert.deepEqual(counts(ofAccount), [50, 6])
  assert.equal((await reportsIn(console, console.accountId)).length, 50)

  // After an hour they may ask again.
  await postgres`
    UPDATE outbox SET queued_at = queued_at - interval '61 minutes' WHERE recipient IN ${postgres([one, ...many])}`
  assert.equal(await ask(0, console.accountId, id, one), 'asked')
})

test('thirty mails an hour come from a network, whatever the account; others have their own', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  const owner = await console.signedIn('owner')
  const other = await console.addAccount()
  const otherOwner = await console.signedIn('owner', other.accountId)
  const member = await console.addUser('viewer', other.accountId)
  for (let count = 0; count < 30; count++) {
    const { status } = await owner.post(page, page, { ...weekly, email: someAddress() }, from('192.0.2.7'))
    assert.equal(status, 303)
  }
  const refused = await otherOwner.post(page, page, { ...weekly, email: someAddress() }, from('192.0.2.7'))
  assert.equal(refused.status, 429)
  assert.match(refused.text, /Try again in an hour/)
  const elsewhere = await otherOwner.post(page, page, { ...weekly, email: someAddress() }, from('198.51.100.7'))
  assert.equal(elsewhere.status, 303)
  // What needs no mail does not count.
  const own = await otherOwner.post(page, page, weekly, from('192.0.2.7'))
  assert.equal(own.status, 303)
  const ofMember = await otherOwner.post(page, page, { ...weekly, email: member.email }, from('198.51.100.7'))
  assert.equal(ofMember.status, 303)
})

test('the reports of a removed member end, also those of the plain address and mails that wait', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const [owner, leaving] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const other = await console.addAccount()
  await addMember(console.stores.postgres, other.accountId, leaving.userId, 'viewer')
  await giveReport(console, { email: leaving.email, userId: leaving.userId })
  const plain = await giveReport(console, { email: leaving.email, interval: 'month' })
  await giveReport(console, { email: leaving.email, userId: leaving.userId, accountId: other.accountId })
  await giveReport(console, { email: owner.email, userId: owner.userId })
  assert.equal(await waitingReports(console, leaving.email), 3)

  await owner.post('/account/members', '/account/members/remove', { member: leaving.userId })
  assert.deepEqual(await reportsIn(console, console.accountId), [`${owner.email} week 8 UTC`])
  assert.deepEqual(await reportsIn(console, other.accountId), [`${leaving.email} week 8 UTC`])
  assert.equal(await waitingReports(console, leaving.email), 1)
  assert.equal(await waitingReports(console, owner.email), 1)
  const ended = (await entriesOf(console, leaving.email)).filter(([, action]) => action === 'report.ended')
  assert.equal(ended.length, 2)
  assert.ok(
    ended.some(([actor, , details]) => actor === owner.email && details?.includes(`every month about all sites`)),
  )
  assert.ok(ended.some(([, , details]) => details?.includes(plain)))
})

test('reports end with the user, the site and the account', async (t) => {
  const stores = await freshStores((end) => t.after(end))
  const console = await openConsole(t, { sendsMail: true, stores })
  const { postgres } = stores
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  await owner.post(page, page, { ...weekly, site: console.domain })
  await giveReport(console, { email: viewer.email, userId: viewer.userId })
  await giveReport(console, { email: someAddress() })
  assert.equal((await reportsIn(console, console.accountId)).length, 3)
  await postgres`DELETE FROM users WHERE id = ${viewer.userId}`
  assert.equal(await waitingReports(console, viewer.email), 0)
  assert.equal((await reportsIn(console, console.accountId)).length, 2)
  await postgres`DELETE FROM sites WHERE id = ${console.siteId}`
  assert.equal((await reportsIn(console, console.accountId)).length, 1)
  assert.equal(await deleteAccount(postgres, console.accountId), true)
  assert.equal((await postgres`SELECT FROM report_subscriptions`).length, 0)
  assert.equal((await postgres`SELECT FROM outbox`).length, 0)
})

test('what nobody confirms within seven days is forgotten', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const { postgres } = console.stores
  const owner = await console.signedIn('owner')
  const [late, inTime] = [someAddress(), someAddress()]
  for (const email of [late, inTime]) await owner.post(page, page, { ...weekly, email })
  await postgres`UPDATE report_subscriptions SET created_at = now() - interval '7 days 1 minute' WHERE email = ${late}`
  await postgres`UPDATE report_subscriptions SET created_at = now() - interval '6 days 23 hours' WHERE email = ${inTime}`
  const links = await Promise.all(
    [late, inTime].map(async (email) => linkIn(console, (await lettersTo(console, email))[0])),
  )
  const statuses = []
  for (const link of links) {
    const visitor = console.stranger()
    statuses.push((await visitor.get(link)).status, (await visitor.post(link, link, { confirm: 'yes' })).status)
  }
  assert.deepEqual(statuses, [404, 404, 200, 200])
  const { text } = await owner.get(page)
  assert.ok(!text.includes(late) && text.includes(inTime))
  await queueDueReports(postgres)
  assert.deepEqual(await reportsIn(console, console.accountId), [`${inTime} week 8 Europe/Berlin`])
})
