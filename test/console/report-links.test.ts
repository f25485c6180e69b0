// The links of mails: a GET changes nothing, a POST needs nothing but the link, and links that do not work tell nothing (decision D-222).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { reportLink } from '../../src/email-reports/links.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, openConsole, type TestConsole } from './console.ts'
import { giveReport, lettersTo, linkIn, reportsIn, waitingReports } from './report-mails.ts'
import { dumpTables } from './table-dump.ts'

const oneClick = 'List-Unsubscribe=One-Click'
const typeOf = (type: string) => ({ 'Content-Type': type })

const pathOf = ({ url }: TestConsole, action: 'confirm' | 'unsubscribe', id: string, secrets = keySecrets): string =>
  reportLink({ secrets, publicUrl: url }, action, id).slice(url.length)

/** Sends nothing but what is given: no cookie, no Origin. */
async function send({ url }: TestConsole, path: string, init: RequestInit = {}) {
  const response = await fetch(url + path, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const press = (console: TestConsole, path: string) =>
  send(console, path, { method: 'POST', headers: typeOf('application/x-www-form-urlencoded'), body: oneClick })

async function openWithRequest(t: TestContext) {
  const console = await openConsole(t, { sendsMail: true, stores: await freshStores((end) => t.after(end)) })
  const owner = await console.signedIn('owner')
  const email = `${randomUUID()}@elsewhere.example`
  const fields = { site: console.domain, every: 'month', hour: '6', zone: 'Asia/Kathmandu', email }
  await owner.post('/account/reports', '/account/reports', fields)
  const confirmPath = linkIn(console, (await lettersTo(console, email))[0])
  const unsubscribePath = confirmPath.replace(/.*\/(rep_\w+)\..*/, (_, id) => pathOf(console, 'unsubscribe', id))
  return { console, owner, email, confirmPath, unsubscribePath }
}

test('opening a link changes nothing, and shows what is sent to whom', async (t) => {
  const { console, owner, email, confirmPath, unsubscribePath } = await openWithRequest(t)
  const before = await dumpTables(console.stores.postgres)
  for (const path of [confirmPath, unsubscribePath]) {
    for (const method of ['GET', 'HEAD']) assert.equal((await send(console, path, { method })).status, 200)
    const { text, headers } = await send(console, path)
    for (const words of [email, console.domain, 'Monthly', '6:00', 'Asia/Kathmandu', owner.email]) {
      assert.ok(text.includes(words), words)
    }
    assert.deepEqual(
      ['referrer-policy', 'x-robots-tag', 'cache-control', 'set-cookie'].map((name) => headers.get(name)),
      ['no-referrer', 'noindex', 'no-store', null],
    )
    // Somebody who is signed in gets the same page, and no link of it leads into the console.
    assert.equal((await owner.get(path)).text, text)
    assert.doesNotMatch(text, /<a (?!class="skip")/)
  }
  assert.deepEqual(await dumpTables(console.stores.postgres), before)
})

test('only the button of the page confirms, and only once', async (t) => {
  const { console, email, confirmPath } = await openWithRequest(t)
  const unconfirmed = [`${email} month ${console.domain} 6 Asia/Kathmandu unconfirmed`]
  const closed = await send(console, pathOf(console, 'confirm', 'rep_aaaaaaaaaaaaaaaa'))
  for (const body of [oneClick, '', 'confirm=no']) {
    const refused = await send(console, confirmPath, {
      method: 'POST',
      headers: typeOf('application/x-www-form-urlencoded'),
      body,
    })
    assert.deepEqual([refused.status, refused.text], [404, closed.text])
  }
  assert.deepEqual(await reportsIn(console, console.accountId), unconfirmed)
  const confirm = () =>
    send(console, confirmPath, {
      method: 'POST',
      headers: typeOf('application/x-www-form-urlencoded'),
      body: 'confirm=yes',
    })
  const answers = await Promise.all([confirm(), confirm(), confirm()])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404])
  assert.deepEqual(await reportsIn(console, console.accountId), [`${email} month ${console.domain} 6 Asia/Kathmandu`])
  const used = await send(console, confirmPath)
  assert.deepEqual([used.status, used.text], [404, closed.text])
  const confirmed = (await entriesOf(console, email)).filter(([, action]) => action === 'report.confirmed')
  assert.equal(confirmed.length, 1)
})

test('one click ends a report without cookie, Origin or token, in every form that mail programs send', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const boundary = 'a-boundary'
  const multipart = `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`
  const forms: RequestInit[] = [
    { headers: typeOf('application/x-www-form-urlencoded'), body: oneClick },
    { headers: typeOf(`multipart/form-data; boundary=${boundary}`), body: multipart },
    { headers: typeOf('text/plain'), body: oneClick },
    {},
    { headers: { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' } },
  ]
  for (const form of forms) {
    const [email, other] = [`${randomUUID()}@elsewhere.example`, `${randomUUID()}@elsewhere.example`]
    const id = await giveReport(console, { email })
    await giveReport(console, { email: other })
    const path = pathOf(console, 'unsubscribe', id)
    const ended = await send(console, path, { method: 'POST', ...form })
    assert.deepEqual([ended.status, ended.headers.get('set-cookie')], [200, null])
    assert.match(ended.text, /The report has ended/)
    assert.deepEqual([await waitingReports(console, email), await waitingReports(console, other)], [0, 1])
    assert.deepEqual(await entriesOf(console, email), [
      ['somebody', 'report.ended', `every week about all sites, with the link of a mail (${id})`, ''],
    ])
    // Again, and by opening it: it is done.
    assert.deepEqual([(await press(console, path)).text, (await send(console, path)).text], [ended.text, ended.text])
    assert.equal((await entriesOf(console, email)).length, 1)
  }
})

test('the page to stop a report works in a browser without a script, whoever is signed in', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const id = await giveReport(console, { email: viewer.email, userId: viewer.userId })
  const path = pathOf(console, 'unsubscribe', id)
  assert.match((await owner.post(path, path)).text, /The report has ended/)
  assert.deepEqual(await reportsIn(console, console.accountId), [])
})

test('forged, foreign, changed and mixed up links do nothing, and get the same bytes', async (t) => {
  const console = await openConsole(t, { sendsMail: true, stores: await freshStores((end) => t.after(end)) })
  const [one, other] = [
    await giveReport(console, { email: 'one@elsewhere.example' }),
    await giveReport(console, { email: 'other@elsewhere.example' }),
  ]
  await console.stores.postgres`UPDATE report_subscriptions SET confirmed_at = NULL WHERE id = ${other}`
  const foreignSecrets = [{ version: 1, secret: Buffer.from('another-secret-of-another-place-') }] as const
  const tokenOf = (action: 'confirm' | 'unsubscribe', id: string, secrets = keySecrets) =>
    pathOf(console, action, id, secrets).split('/').at(-1) as string
  const signatureOf = (token: string) => token.split('.')[1] as string
  const made = (action: 'confirm' | 'unsubscribe', id: string) => [
    id,
    `${id}.`,
    `.${signatureOf(tokenOf(action, id))}`,
    `${id}.${'x'.repeat(43)}`,
    `${id}.${signatureOf(tokenOf(action, id === one ? other : one))}`,
    `${id}.${signatureOf(tokenOf(action === 'confirm' ? 'unsubscribe' : 'confirm', id))}`,
    `${id}.${signatureOf(tokenOf(action, id)).slice(0, -1)}`,
    `${tokenOf(action, id)}A`,
    tokenOf(action, id, foreignSecrets),
    'x'.repeat(43),
  ]
  const before = await dumpTables(console.stores.postgres)
  const texts = new Set<string>()
  for (const action of ['confirm', 'unsubscribe'] as const) {
    for (const token of [...made(action, one), ...made(action, other)]) {
      for (const init of [
        {},
        { method: 'POST', headers: typeOf('application/x-www-form-urlencoded'), body: `${oneClick}&confirm=yes` },
      ]) {
        const { status, text, headers } = await send(console, `/reports/${action}/${token}`, init)
        assert.deepEqual([token, status], [token, 404])
        assert.equal(headers.get('referrer-policy'), 'no-referrer')
        texts.add(text)
      }
    }
  }
  assert.equal(texts.size, 1)
  assert.deepEqual(await dumpTables(console.stores.postgres), before)
})
