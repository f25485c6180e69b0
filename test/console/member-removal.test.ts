// What a removed member has made and still works without them: keys and shared links.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createKey, listKeysOf, setKeyDisabled } from '../../src/accounts/keys.ts'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { addMember } from '../../src/users/members.ts'
import { addSharedLink, revokeSharedLink, sharedLinksOf } from '../../src/users/shared-links.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, forgottenBy, openConsole } from './console.ts'

const now = '2026-11-18T12:00:00Z'
const [past, future] = [new Date('2026-11-17T12:00:00Z'), new Date('2026-11-19T12:00:00Z')]

/** An owner, and another one who leaves with two keys and two links that work, and with others that do not. */
async function openWithLeaving(t: TestContext) {
  const console = await openConsole(t, { now })
  const { accountId, siteId, stores } = console
  const { postgres } = stores
  const [owner, leaving] = [await console.signedIn('owner'), await console.signedIn('owner')]
  const other = await console.addAccount()
  await addMember(postgres, other.accountId, leaving.userId, 'owner')

  const makeKey = (name: string, more: Partial<Parameters<typeof createKey>[2]> = {}) =>
    createKey(postgres, keySecrets, { accountId, name, createdBy: leaving.email, ...more })
  const report = await makeKey('Report', { siteId })
  await makeKey('Export', { expiresAt: future })
  await setKeyDisabled(postgres, (await makeKey('Disabled key')).id, true)
  await makeKey('Expired key', { expiresAt: past })
  await makeKey('Key of the owner', { createdBy: owner.email })
  const foreignKey = await makeKey('Foreign key', { accountId: other.accountId })

  const makeLink = async (name: string, { of = siteId, by = leaving.email, expiresAt = null as Date | null } = {}) => {
    const link = { name, expiresAt, passwordHash: null, isEmbeddable: false, filters: [] }
    const nonce = randomBytes(16).toString('base64url')
    return addSharedLink(postgres, keySecrets, { actor: by }, (await findSite(postgres, of)) as Site, {
      ...link,
      nonce,
    })
  }
  const agency = await makeLink('Agency')
  await makeLink('Board', { expiresAt: future })
  await makeLink('Expired link', { expiresAt: past })
  await makeLink('Revoked link')
  await makeLink('Link of the owner', { by: owner.email })
  const foreignLink = await makeLink('Foreign link', { of: other.siteId })
  const linkOf = async (wanted: string) =>
    (await sharedLinksOf(postgres, siteId, Date.parse(now))).find(({ name }) => name === wanted)?.id as string
  const site = (await findSite(postgres, siteId)) as Site
  await revokeSharedLink(postgres, { actor: owner.email }, site, await linkOf('Revoked link'))

  const path = `/account/members/remove?member=${leaving.userId}`
  return {
    console,
    owner,
    leaving,
    path,
    linkOf,
    remove: (fields: Record<string, string>) =>
      owner.post(path, '/account/members/remove', { member: leaving.userId, ...fields }),
    async works() {
      const codeWith = async (text: string, of: string) => {
        const headers = { Authorization: `Bearer ${text}` }
        const { status, json } = await console.api.fetch(`/api/v1/stats/overview?range=7d&site_id=${of}`, { headers })
        return json.error?.code ?? status
      }
      const openLink = async (token: string | undefined) => (await console.stranger().get(`/share/${token}`)).status
      return {
        keys: [await codeWith(report.text, siteId), await codeWith(foreignKey.text, other.siteId)],
        links: [await openLink(agency), await openLink(foreignLink)],
      }
    },
    /** The names of keys and links that work, of everybody in the account. */
    async left() {
      const keys = await listKeysOf(postgres, accountId)
      const links = await sharedLinksOf(postgres, siteId, Date.parse(now))
      const isOver = (expiresAt: Date | null) => expiresAt !== null && expiresAt < new Date(now)
      return [
        ...keys.filter(({ disabled, expiresAt }) => !disabled && !isOver(expiresAt)),
        ...links.filter(({ revokedAt, expiresAt }) => !revokedAt && !isOver(expiresAt)),
      ]
        .map(({ name }) => name)
        .sort()
    },
  }
}

test('before a member is removed, the page lists the keys and links they made that still work', async (t) => {
  const { console, owner, leaving, path } = await openWithLeaving(t)
  const members = await owner.get('/account/members')
  assert.ok(members.text.includes(`href="${path}"`))
  const { status, text } = await owner.get(path)
  assert.equal(status, 200)
  assert.ok(text.includes(`Remove ${leaving.email}`))
  for (const shown of ['Report', 'Export', 'Agency', 'Board', console.domain]) assert.ok(text.includes(shown), shown)
  assert.doesNotMatch(text, /Disabled key|Expired|Revoked link|of the owner|Foreign/)
  assert.match(text, /name="keys" value="disable" checked/)
  assert.match(text, /name="links" value="revoke" checked/)

  const { text: own } = await owner.get(`/account/members/remove?member=${owner.userId}`)
  assert.match(own, /Leave A test[\s\S]*Key of the owner/)
  const viewer = await console.signedIn('viewer')
  const without = await owner.get(`/account/members/remove?member=${viewer.userId}`)
  assert.doesNotMatch(without.text, /type="checkbox"/)
  assert.match(without.text, /They made no API keys and no shared links that still work/)
})

test('the keys are disabled and the links revoked together with the removal, with their entries', async (t) => {
  const { console, owner, leaving, linkOf, remove, works, left } = await openWithLeaving(t)
  assert.deepEqual(await works(), { keys: [200, 200], links: [200, 200] })
  const forgotten = forgottenBy(console)
  const { status, headers } = await remove({ keys: 'disable', links: 'revoke' })
  assert.deepEqual([status, headers.get('location')], [303, '/account/members?done=removed'])
  assert.equal((await leaving.get('/account')).status, 303)
  assert.deepEqual(await works(), { keys: ['key_disabled', 200], links: [404, 200] })
  assert.deepEqual(await left(), ['Key of the owner', 'Link of the owner'])
  const keys = (await listKeysOf(console.stores.postgres, console.accountId)).filter(({ name }) =>
    ['Report', 'Export'].includes(name),
  )
  assert.deepEqual(forgotten.sort(), keys.map(({ id }) => id).sort())

  const by = (action: string, details: string) => [owner.email, action, details, '127.0.0.0']
  assert.deepEqual(await entriesOf(console, leaving.email), [by('member.removed', 'owner')])
  for (const { name, prefix } of keys) {
    assert.deepEqual(await entriesOf(console, name), [by('key.disabled', `${prefix}…`)])
  }
  for (const name of ['Agency', 'Board']) {
    const [, ...entries] = await entriesOf(console, name)
    assert.deepEqual(entries, [by('link.revoked', `${console.domain}, ${await linkOf(name)}`)])
  }
})

test('keys and links stay if the owner wants it, and when nobody is removed', async (t) => {
  const { console, owner, leaving, remove, left } = await openWithLeaving(t)
  const all = await left()
  const foreign = await console.signedIn('owner', (await console.addAccount()).accountId)
  const fields = { member: leaving.userId, keys: 'disable', links: 'revoke' }
  assert.equal((await foreign.post('/account/members', '/account/members/remove', fields)).status, 404)
  assert.deepEqual(await left(), all)
  assert.equal((await remove({})).status, 303)
  assert.deepEqual(await left(), all)

  const last = await owner.post('/account/members', '/account/members/remove', { ...fields, member: owner.userId })
  assert.equal(last.status, 422)
  assert.deepEqual(await left(), all)
})
