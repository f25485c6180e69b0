// Everything in an account that a URL or a form of the console can name.
import { randomBytes, randomUUID } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { newId } from '../../src/accounts/ids.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { alertsOf, createAlert, type NewAlert } from '../../src/alerts/alerts.ts'
import type { Interval } from '../../src/email-reports/due.ts'
import { reportLink } from '../../src/email-reports/links.ts'
import { createSubscription } from '../../src/email-reports/subscriptions.ts'
import { inTransaction } from '../../src/stores/postgres.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { invitationsTo, inviteMember } from '../../src/users/invitations.ts'
import { addMember } from '../../src/users/members.ts'
import { addNote } from '../../src/users/notes.ts'
import { createLink } from '../../src/users/one-time-links.ts'
import { addSegment } from '../../src/users/segments.ts'
import { createSession } from '../../src/users/sessions.ts'
import { addSharedLink, type NewSharedLink, sharedLinksOf } from '../../src/users/shared-links.ts'
import { createUser } from '../../src/users/users.ts'
import { queueWebhooks } from '../../src/webhooks/deliveries.ts'
import { type CreatedWebhook, createWebhook } from '../../src/webhooks/webhooks.ts'
import { keySecrets, type Stores } from '../support/stores.ts'

export interface Things {
  accountId: string
  domain: string
  /** A key of the site. */
  keyId: string
  /** A key of the account. */
  accountKeyId: string
  /** A shared link of the site. */
  linkId: string
  /** Another session of the visitor. */
  sessionId: string
  /** Another member of the account. */
  memberId: string
  /** An invitation to the account. */
  invitationId: string
  /** A report by email that the owner gets. */
  reportId: string
  /** A webhook of the site, and a message that it did not take. */
  webhookId: string
  deliveryId: string
  /** An alert of the site that is on. */
  alertId: string
  /** The name of a goal of the site. */
  goal: string
  segment: string
  /** The id of a note of the site. */
  noteId: string
  /** Files that wait for the owner, at a process that is gone. */
  uploadId: string
  importId: string
}

export interface Person {
  userId: string
  email: string
  /** The value of the session cookie. */
  cookie: string
}

export interface OwnThings extends Things {
  /** Tokens of one-time links. */
  invitationToken: string
  resetToken: string
  setupToken: string
  signInToken: string
  /** Tokens of shared links: of the one above, of an embeddable one, and of one with a password. */
  sharedToken: string
  embeddableToken: string
  passwordToken: string
  /** Tokens of links in mails, to addresses that are no members. */
  confirmToken: string
  unsubscribeToken: string
  /** A report by email that the viewer gets. */
  viewerReportId: string
  siteId: string
  owner: Person
  viewer: Person
}

export interface Names {
  account: string
  domain: string
  goal: string
  segment: string
  note: string
  /** Becomes the part before the @. */
  person(role: 'owner' | 'viewer' | 'member' | 'invited' | 'reader'): string
}

const randomNames = (): Names => ({
  account: 'Things',
  domain: `${randomUUID()}.example`,
  goal: randomUUID(),
  segment: randomUUID(),
  note: randomUUID(),
  person: () => randomUUID(),
})

const today = () => new Date().toISOString().slice(0, 10)

/** An account with one of everything, an owner and a viewer who are signed in. */
export async function makeThings(stores: Stores, passwordHash: string, names = randomNames()): Promise<OwnThings> {
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: names.account, plan: 'Agency' })
  const { domain } = names
  const siteId = await createSite(postgres, { accountId, domain })
  const site = (await findSite(postgres, siteId)) as Site
  await createGoal(postgres, siteId, { name: names.goal, condition: { kind: 'event', event: 'Signup' } })
  const segment = { name: names.segment, filters: ['page:is:/pricing', 'channel:is:Organic Search'] }
  await addSegment(postgres, { actor: 'maria.keller@example.com' }, site, segment)
  const note = await addNote(postgres, { actor: 'maria.keller@example.com' }, site, { day: today(), text: names.note })
  const [uploadId, importId] = [randomUUID(), randomUUID()]
  await postgres`
    INSERT INTO uploads (id, site_id, files, state, preview, created_by, address, seen_at)
    VALUES (${uploadId}, ${siteId}, '{visits.csv}', 'waiting', '{"kind":"csv","events":1,"leftOut":{},"broken":[]}',
      'maria.keller@example.com', '', now() - interval '1 minute')`
  await postgres`
    INSERT INTO imports (id, site_id, content, time_zone, kind, files, events, days, finished_at)
    VALUES (${importId}, ${siteId}, ${randomBytes(32)}, 'UTC', 'umami', '{website_event.csv}', 1, '{[2025-03-01,2025-03-02)}', now())`
  const share = async (name: string, more: Partial<NewSharedLink> = {}): Promise<string> => {
    const link = {
      name,
      expiresAt: null,
      passwordHash: null,
      isEmbeddable: false,
      filters: [],
      nonce: randomUUID(),
      ...more,
    }
    return (await addSharedLink(postgres, keySecrets, { actor: 'maria.keller@example.com' }, site, link)) as string
  }
  const sharedToken = await share('For the agency', { filters: ['country:is:DE'] })
  const embeddableToken = await share('Home page', { isEmbeddable: true })
  const passwordToken = await share('The board', { passwordHash })
  const links = await sharedLinksOf(postgres, siteId, Date.now())
  const siteKey = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Of the site' })
  const accountKey = await createKey(postgres, keySecrets, { accountId, name: 'Of the account' })

  async function addPerson(kind: 'owner' | 'viewer' | 'member'): Promise<Person> {
    const email = `${names.person(kind)}@example.com`
    const userId = await createUser(postgres, email, passwordHash)
    await addMember(postgres, accountId, userId, kind === 'owner' ? 'owner' : 'viewer')
    const cookie = await createSession(postgres, userId, { address: '192.0.2.0', browser: 'Firefox on Linux' })
    return { userId, email, cookie }
  }

  const [owner, viewer, member] = [await addPerson('owner'), await addPerson('viewer'), await addPerson('member')]
  await createSession(postgres, owner.userId, { address: '198.51.100.0', browser: 'Safari on iOS' })
  const [session] = await postgres<{ id: string }[]>`
    SELECT id FROM user_sessions WHERE user_id = ${owner.userId} AND browser = 'Safari on iOS'`
  const invited = { accountId, email: `${names.person('invited')}@example.com`, role: 'viewer' } as const
  const invitationToken = (await inviteMember(postgres, undefined, commandLine, invited))?.token as string
  const [invitation] = await invitationsTo(postgres, accountId)

  const report = async (email: string, userId: string | null, interval: Interval = 'week'): Promise<string> => {
    const schedule = { interval, hour: 8, timeZone: 'Europe/Berlin' }
    const subscription = { accountId, siteId, email, userId, createdBy: owner.email, ...schedule }
    return (await createSubscription(postgres, subscription)) as string
  }
  const webhook = {
    siteId,
    url: 'https://hooks.example/footfall?token=abc',
    createdBy: owner.email,
    nonce: randomUUID(),
  }
  const { id: webhookId } = (await inTransaction(postgres, (transaction) =>
    createWebhook(transaction, keySecrets, webhook),
  )) as CreatedWebhook
  const message = { siteId, type: 'alert.began', data: { site: domain } }
  const [deliveryId] = await inTransaction(postgres, (transaction) => queueWebhooks(transaction, message))
  await postgres`
    UPDATE webhook_deliveries SET state = 'failed', attempts = 7, http_status = 500, duration_ms = 87, problem = 'the receiver answered 500'
    WHERE id = ${deliveryId as string}`

  const alert: NewAlert = {
    siteId,
    condition: { kind: 'missing', threshold: 24, minUsual: 10, event: 'Signup' },
    mailTo: 'owners',
    toWebhooks: true,
    quiet: { from: 22, until: 7 },
    createdBy: owner.email,
    nonce: randomUUID(),
  }
  await inTransaction(postgres, (transaction) => createAlert(transaction, alert))
  const [created] = await alertsOf(postgres, siteId)
  const alertId = created?.id as string
  await postgres`UPDATE alerts SET is_on = true, is_told = true, began_at = now() - interval '3 hours' WHERE id = ${alertId}`

  const reader = `${names.person('reader')}@example.com`
  const confirmed = await report(reader, null, 'month')
  await postgres`UPDATE report_subscriptions SET confirmed_at = now() WHERE id = ${confirmed}`
  const tokenOf = (action: 'confirm' | 'unsubscribe', id: string) =>
    reportLink({ secrets: keySecrets, publicUrl: '' }, action, id).split('/').at(-1) as string
  return {
    invitationToken,
    resetToken: await createLink(postgres, { purpose: 'reset', userId: owner.userId }),
    setupToken: await createLink(postgres, { purpose: 'setup' }),
    signInToken: await createLink(postgres, { purpose: 'sign-in', userId: owner.userId }),
    invitationId: invitation?.id as string,
    reportId: await report(owner.email, owner.userId),
    viewerReportId: await report(viewer.email, viewer.userId),
    confirmToken: tokenOf('confirm', await report(reader, null)),
    unsubscribeToken: tokenOf('unsubscribe', confirmed),
    accountId,
    siteId,
    domain,
    webhookId,
    deliveryId: deliveryId as string,
    alertId,
    goal: names.goal,
    segment: names.segment,
    noteId: note.id,
    uploadId,
    importId,
    keyId: siteKey.id,
    linkId: links.find(({ name }) => name === 'For the agency')?.id as string,
    sharedToken,
    embeddableToken,
    passwordToken,
    accountKeyId: accountKey.id,
    sessionId: session?.id as string,
    memberId: member.userId,
    owner,
    viewer,
  }
}

/** Well formed, and nobody has them. */
export const unknownThings = (): Things => ({
  accountId: newId('acct'),
  domain: `${randomUUID()}.example`,
  keyId: newId('key'),
  accountKeyId: newId('key'),
  linkId: newId('share'),
  sessionId: newId('sess'),
  memberId: newId('user'),
  invitationId: newId('link'),
  reportId: newId('rep'),
  webhookId: newId('whk'),
  deliveryId: newId('whd'),
  alertId: newId('alert'),
  goal: randomUUID(),
  segment: randomUUID(),
  noteId: newId('note'),
  uploadId: randomUUID(),
  importId: randomUUID(),
})
