// The menu of sites in the header. Chromium opens it in site-pages-browser.test.ts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { addMember } from '../../src/users/members.ts'
import { openConsole } from './console.ts'

const linksIn = (text: string): string[] =>
  Array.from(text.matchAll(/<a href="\/sites\/([^"]+)">/g), ([, domain]) => domain as string)

test('the menu finds sites of the accounts of the user, and of nobody else', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const end = `${randomUUID()}.example`
  const addTo = (accountId: string, name: string) => createSite(postgres, { accountId, domain: `${name}.${end}` })
  await addTo(console.accountId, 'b')
  const other = await console.addAccount()
  await addTo(other.accountId, 'foreign')
  const viewer = await console.signedIn('viewer')
  const find = async (text: string) => (await viewer.get(`/search?q=${encodeURIComponent(text)}`)).text
  assert.deepEqual(linksIn(await find('')), [console.domain, `b.${end}`].sort())
  assert.deepEqual(linksIn(await find(`  ${end.toUpperCase()} `)), [`b.${end}`])
  assert.match(await find('<script>'), /^<p>No site matches\.<\/p>$/)
  assert.doesNotMatch(await find(end), /class="hint"/)

  const second = await createAccount(postgres, { name: 'Second <b>', plan: 'Free' })
  await addMember(postgres, second, viewer.userId, 'viewer')
  await addTo(second, 'a')
  const both = await find(end)
  assert.deepEqual(linksIn(both), [`a.${end}`, `b.${end}`])
  assert.match(both, /<span class="hint">Second &#60;b&#62;<\/span>/)

  for (let index = 0; index < 14; index++) await addTo(second, `many${index}`)
  assert.equal(linksIn(await find('many')).length, 12)
  assert.match(await find('many'), /2 more/)
  assert.match((await console.stranger().get('/search?q=')).headers.get('location') ?? '', /^\/login/)
})

test('every page of somebody who is signed in has the menu, and no other page', async (t) => {
  const console = await openConsole(t)
  const viewer = await console.signedIn('viewer')
  for (const path of ['/', '/account', `/sites/${console.domain}`, `/sites/${console.domain}/settings`])
    assert.match((await viewer.get(path)).text, /<details class="switcher">/, path)
  assert.doesNotMatch((await console.stranger().get('/login')).text, /class="switcher"/)
})
