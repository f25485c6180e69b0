// One example for every route of the console, for tests that walk through all of them. A route without an example fails these tests.
import type { Route } from '../../src/console/route.ts'
import { codeAt, stepAt } from '../../src/users/totp.ts'
import { password } from './console.ts'
import type { OwnThings } from './things.ts'

export interface Example {
  /** The whole address, if the path has a part other than `:domain` or needs a query. */
  address?(things: OwnThings): string
  /** The answer is for a program, not for a person; or it is no page of ours. */
  isNoPage?: boolean
  /** The status of the answer to a GET, if not 200. */
  status?: number
  /** Pages of other sites may read the answer. */
  isForOtherSites?: boolean
  /** The page with the form and what its token is made from, if it is not a cookie. */
  form?(things: OwnThings): { page: string; secret: string }
  /** A form with a file. */
  file?: { name: string; content: string }
  /** The fields of a form that an owner may send and that changes something. */
  fields?(things: OwnThings): Record<string, string>
  /** Viewers may send this form, although it changes something: it concerns only themselves. */
  viewersMay?: boolean
  /** A form that only shows something. */
  changesNothing?: boolean
  /** Fields with a mistake of the person: the page comes again. */
  mistake?(things: OwnThings): Record<string, string>
  /** It works only while nobody owns the installation, so here it is refused; setup.test.ts tests it. */
  needsNoOwner?: boolean
  /** The status of that page, if not 422. */
  mistakeStatus?: number
}

const totpSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const chosen = { 'new-password': 'another good password', 'repeated-password': 'another good password' }
const unequal = { ...chosen, 'repeated-password': 'a different password' }
const schedule = { hour: '7', zone: 'Asia/Tokyo' }
const noSchedule = { hour: '7', zone: 'Mars/Olympus' }

export const examples: Readonly<Record<string, Example>> = {
  'GET /login': {},
  'POST /login': {
    fields: ({ owner }) => ({ email: owner.email, password, next: '/' }),
    mistake: ({ owner }) => ({ email: owner.email, password: 'not this one', next: '/' }),
    mistakeStatus: 401,
  },
  'POST /logout': { viewersMay: true },
  'GET /login/forgotten': {},
  'POST /login/forgotten': {
    fields: ({ owner }) => ({ email: owner.email }),
    mistake: () => ({ email: 'nobody' }),
  },
  'GET /login/oidc': { isNoPage: true, status: 303 },
  // Nobody has begun anything.
  'GET /login/oidc/callback': { isNoPage: true, status: 400 },
  'GET /sign-in/:token': { address: ({ signInToken }) => `/sign-in/${signInToken}` },
  'POST /sign-in/:token': { address: ({ signInToken }) => `/sign-in/${signInToken}` },
  'GET /setup/:token': { address: ({ setupToken }) => `/setup/${setupToken}` },
  'POST /setup/:token': {
    address: ({ setupToken }) => `/setup/${setupToken}`,
    fields: ({ owner }) => ({ email: owner.email, ...chosen }),
    mistake: () => ({ email: 'nobody', ...chosen }),
    needsNoOwner: true,
  },
  'GET /invitation/:token': { address: ({ invitationToken }) => `/invitation/${invitationToken}` },
  'POST /invitation/:token': {
    address: ({ invitationToken }) => `/invitation/${invitationToken}`,
    fields: () => chosen,
    mistake: () => unequal,
  },
  'GET /reset/:token': { address: ({ resetToken }) => `/reset/${resetToken}` },
  'POST /reset/:token': {
    address: ({ resetToken }) => `/reset/${resetToken}`,
    fields: () => chosen,
    mistake: () => unequal,
  },
  'GET /': {},
  'GET /search': { isNoPage: true },
  'GET /sites/new': { address: ({ accountId }) => `/sites/new?account=${accountId}` },
  'POST /sites/new': {
    fields: ({ accountId }) => ({ account: accountId, domain: `${accountId.slice(5)}.example`, zone: 'UTC' }),
    mistake: ({ accountId }) => ({ account: accountId, domain: 'exa mple', zone: 'UTC' }),
  },
  'GET /sites/:domain': {},
  'GET /sites/:domain/numbers': { isNoPage: true },
  'GET /sites/:domain/now': { isNoPage: true },
  'GET /sites/:domain/live': {},
  'GET /sites/:domain/live/stream': { isNoPage: true },
  'GET /sites/:domain/csv/:report': { address: ({ domain }) => `/sites/${domain}/csv/pages`, isNoPage: true },
  'GET /sites/:domain/settings': {},
  'GET /sites/:domain/settings/first-event': { isNoPage: true },
  'GET /sites/:domain/settings/install/:guide': { address: ({ domain }) => `/sites/${domain}/settings/install/nextjs` },
  'POST /sites/:domain/settings/time-zone': {
    fields: () => ({ zone: 'Asia/Tokyo' }),
    mistake: () => ({ zone: 'Mars/Olympus' }),
  },
  'POST /sites/:domain/settings/hostnames': {
    fields: () => ({ hostnames: 'shop.example' }),
    mistake: () => ({ hostnames: 'shop example:80' }),
  },
  'GET /sites/:domain/settings/exclusions': {},
  'POST /sites/:domain/settings/exclusions': {
    fields: () => ({ country: 'FR' }),
    mistake: () => ({ country: 'XX' }),
  },
  'POST /sites/:domain/settings/exclusions/preview': { fields: () => ({ country: 'FR' }), changesNothing: true },
  'GET /sites/:domain/settings/goals': {},
  'GET /sites/:domain/settings/goals/new': {
    address: ({ domain }) =>
      `/sites/${domain}/settings/goals/new?name=Visit+%2Fpricing&kind=path&path=%2Fpricing&back=range%3D7d`,
  },
  'POST /sites/:domain/settings/goals': {
    fields: () => ({ name: 'Blog', kind: 'path', path: '/blog/**', event: '', property: '', value: '' }),
    mistake: () => ({ name: 'Blog', kind: 'path', path: 'blog/**', event: '', property: '', value: '' }),
  },
  'POST /sites/:domain/settings/goals/remove': { fields: ({ goal }) => ({ goal }) },
  'GET /sites/:domain/settings/goals/change': {
    address: ({ domain, goal }) => `/sites/${domain}/settings/goals/change?${new URLSearchParams({ goal })}`,
  },
  'POST /sites/:domain/settings/goals/change': {
    fields: ({ goal }) => ({ goal, name: 'Pro', kind: 'event', event: 'Signup', property: 'plan', value: 'pro' }),
    mistake: ({ goal }) => ({ goal, name: 'Pro', kind: 'event', event: 'Signup', property: 'the plan', value: 'pro' }),
  },
  'GET /sites/:domain/settings/segments': {},
  'GET /sites/:domain/settings/segments/new': {
    address: ({ domain }) => `/sites/${domain}/settings/segments/new?range=7d&filter=page:starts_with:/blog`,
  },
  'POST /sites/:domain/settings/segments': {
    fields: () => ({ name: 'Blog', filter: 'page:starts_with:/blog', back: 'range=7d' }),
    mistake: () => ({ name: '', filter: 'page:starts_with:/blog', back: 'range=7d' }),
  },
  'POST /sites/:domain/settings/segments/remove': { fields: ({ segment }) => ({ segment }) },
  'GET /sites/:domain/settings/segments/change': {
    address: ({ domain, segment }) => `/sites/${domain}/settings/segments/change?${new URLSearchParams({ segment })}`,
  },
  'POST /sites/:domain/settings/segments/change': {
    fields: ({ segment }) => ({ segment, name: 'Another name' }),
    mistake: ({ segment }) => ({ segment, name: '' }),
  },
  'GET /sites/:domain/settings/imports': {},
  'GET /sites/:domain/settings/imports/state': { isNoPage: true },
  'POST /sites/:domain/settings/imports': {
    file: { name: 'visits.csv', content: 'time,url,visitor\n' },
    fields: () => ({ kind: 'csv' }),
  },
  'POST /sites/:domain/settings/imports/check': {
    fields: ({ uploadId }) => ({ upload: uploadId, until: '2025-03-31' }),
    mistake: ({ uploadId }) => ({ upload: uploadId, until: '2025-02-31' }),
  },
  'POST /sites/:domain/settings/imports/start': { fields: ({ uploadId }) => ({ upload: uploadId }) },
  'POST /sites/:domain/settings/imports/discard': { fields: ({ uploadId }) => ({ upload: uploadId }) },
  'POST /sites/:domain/settings/imports/undo': { fields: ({ importId }) => ({ import: importId }) },
  'GET /sites/:domain/settings/notes': {},
  'GET /sites/:domain/settings/notes/new': {
    address: ({ domain }) => `/sites/${domain}/settings/notes/new?day=2026-11-14&back=range%3D7d`,
  },
  'POST /sites/:domain/settings/notes': {
    fields: () => ({ day: '2026-11-14', text: 'Launched the new pricing', back: 'range=7d' }),
    mistake: () => ({ day: '2026-11-14', text: '', back: 'range=7d' }),
  },
  'POST /sites/:domain/settings/notes/remove': { fields: ({ noteId }) => ({ note: noteId }) },
  'GET /sites/:domain/settings/notes/change': {
    address: ({ domain, noteId }) => `/sites/${domain}/settings/notes/change?note=${noteId}`,
  },
  'POST /sites/:domain/settings/notes/change': {
    fields: ({ noteId }) => ({ note: noteId, day: '2026-11-14', text: 'Another text' }),
    mistake: ({ noteId }) => ({ note: noteId, day: '2026-11-14', text: '' }),
  },
  ...alertExamples(),
  ...webhookExamples(),
  'POST /sites/:domain/settings/delete': {
    fields: ({ domain }) => ({ confirm: domain }),
    mistake: () => ({ confirm: 'another.example' }),
  },
  'GET /deletions': {},
  ...keyExamples('/sites/:domain/settings/keys', ({ domain }) => `/sites/${domain}/settings/keys`),
  ...keyExamples('/account/keys', () => '/account/keys'),
  ...linkExamples(),
  'GET /share/:token': { address: ({ sharedToken }) => `/share/${sharedToken}` },
  'GET /share/:token/csv/:report': { address: ({ sharedToken }) => `/share/${sharedToken}/csv/pages`, isNoPage: true },
  'GET /share/:token/widget.json': {
    address: ({ embeddableToken }) => `/share/${embeddableToken}/widget.json`,
    isNoPage: true,
    isForOtherSites: true,
  },
  'GET /share/:token/password': { address: ({ passwordToken }) => `/share/${passwordToken}/password` },
  'POST /share/:token/password': {
    address: ({ passwordToken }) => `/share/${passwordToken}/password`,
    form: ({ passwordToken }) => ({ page: `/share/${passwordToken}/password`, secret: passwordToken }),
    fields: () => ({ password }),
    mistake: () => ({ password: 'not this one' }),
    mistakeStatus: 401,
    changesNothing: true,
  },
  'GET /account': { address: ({ accountId }) => `/account?account=${accountId}` },
  'POST /account/theme': { fields: () => ({ theme: 'dark' }), viewersMay: true, changesNothing: true },
  'GET /account/members': { address: ({ accountId }) => `/account/members?account=${accountId}` },
  'POST /account/members/invite': {
    fields: ({ accountId }) => ({ account: accountId, email: 'somebody@example.com', role: 'viewer' }),
    mistake: ({ accountId }) => ({ account: accountId, email: 'nobody', role: 'viewer' }),
  },
  'POST /account/members/role': {
    fields: ({ accountId, memberId }) => ({ account: accountId, member: memberId, role: 'owner' }),
    mistake: ({ accountId, owner }) => ({ account: accountId, member: owner.userId, role: 'viewer' }),
  },
  'GET /account/members/remove': {
    address: ({ accountId, memberId }) => `/account/members/remove?account=${accountId}&member=${memberId}`,
  },
  'POST /account/members/remove': {
    fields: ({ accountId, memberId }) => ({ account: accountId, member: memberId }),
    mistake: ({ accountId, owner }) => ({ account: accountId, member: owner.userId }),
  },
  'POST /account/invitations/revoke': {
    fields: ({ accountId, invitationId }) => ({ account: accountId, invitation: invitationId }),
  },
  'GET /account/reports': { address: ({ accountId }) => `/account/reports?account=${accountId}` },
  'POST /account/reports': {
    fields: ({ accountId, domain }) => ({ account: accountId, site: domain, every: 'month', ...schedule }),
    mistake: ({ accountId, domain }) => ({ account: accountId, site: domain, every: 'month', ...noSchedule }),
    viewersMay: true,
  },
  'GET /account/reports/:id': {
    address: ({ accountId, reportId }) => `/account/reports/${reportId}?account=${accountId}`,
  },
  'POST /account/reports/:id': {
    address: ({ reportId }) => `/account/reports/${reportId}`,
    fields: ({ accountId }) => ({ account: accountId, ...schedule }),
    mistake: ({ accountId }) => ({ account: accountId, ...noSchedule }),
    viewersMay: true,
  },
  'POST /account/reports/:id/stop': {
    address: ({ reportId }) => `/account/reports/${reportId}/stop`,
    fields: ({ accountId }) => ({ account: accountId }),
    viewersMay: true,
  },
  'GET /reports/confirm/:token': { address: ({ confirmToken }) => `/reports/confirm/${confirmToken}` },
  'POST /reports/confirm/:token': {
    address: ({ confirmToken }) => `/reports/confirm/${confirmToken}`,
    fields: () => ({ confirm: 'yes' }),
  },
  'GET /reports/unsubscribe/:token': { address: ({ unsubscribeToken }) => `/reports/unsubscribe/${unsubscribeToken}` },
  'POST /reports/unsubscribe/:token': { address: ({ unsubscribeToken }) => `/reports/unsubscribe/${unsubscribeToken}` },
  'GET /account/security': {},
  'POST /account/password': {
    fields: () => ({ password, ...chosen }),
    mistake: () => ({ password, ...unequal }),
    viewersMay: true,
  },
  'POST /account/sessions/end': { fields: ({ sessionId }) => ({ session: sessionId }), viewersMay: true },
  'POST /account/sessions/end-all': { viewersMay: true },
  'GET /account/second-factor': {},
  'POST /account/second-factor': {
    fields: () => ({ to: 'on', secret: totpSecret, code: codeAt(totpSecret, stepAt(Date.now())), password }),
    mistake: () => ({ to: 'on', secret: totpSecret, code: 'not a code', password }),
    viewersMay: true,
  },
  'GET /account/single-sign-on': {},
  'POST /account/single-sign-on': {
    fields: () => ({ to: 'connect', password }),
    mistake: () => ({ to: 'connect', password: 'not this one' }),
    viewersMay: true,
    // It leads to the provider; what comes back connects.
    changesNothing: true,
  },
  'GET /account/audit': { address: ({ accountId }) => `/account/audit?account=${accountId}` },
}

function alertExamples(): Record<string, Example> {
  const path = '/sites/:domain/settings/alerts'
  const one = ({ domain, alertId }: OwnThings) => `/sites/${domain}/settings/alerts/${alertId}`
  const fields = {
    ...{ kind: 'many', many_threshold: '500', mail: 'members', quiet_from: '22', quiet_until: '7' },
    nonce: 'a-nonce-of-22-letters_',
  }
  return {
    [`GET ${path}`]: {},
    [`POST ${path}`]: { fields: () => fields, mistake: () => ({ ...fields, many_threshold: '0' }) },
    [`GET ${path}/:id`]: { address: one },
    [`POST ${path}/:id`]: {
      address: one,
      fields: () => fields,
      mistake: () => ({ ...fields, quiet_until: '22' }),
    },
    [`POST ${path}/:id/remove`]: { address: (things) => `${one(things)}/remove` },
  }
}

function webhookExamples(): Record<string, Example> {
  const path = '/sites/:domain/settings/webhooks'
  const one = ({ domain, webhookId }: OwnThings) => `/sites/${domain}/settings/webhooks/${webhookId}`
  const action = (name: string) => (things: OwnThings) => `${one(things)}/${name}`
  const nonce = 'a-nonce-of-22-letters_'
  return {
    [`GET ${path}`]: {},
    [`POST ${path}`]: {
      fields: () => ({ url: 'http://127.0.0.1:1/hook', nonce }),
      mistake: () => ({ url: 'http://169.254.169.254/latest/meta-data/', nonce }),
    },
    [`GET ${path}/:id`]: { address: one },
    [`POST ${path}/:id/test`]: { address: action('test'), fields: () => ({ nonce }) },
    [`POST ${path}/:id/replay`]: {
      address: action('replay'),
      fields: ({ deliveryId }) => ({ delivery: deliveryId, nonce }),
      mistake: () => ({ delivery: 'whd_aaaaaaaaaaaaaaaa', nonce: 'another-nonce-of-22-le' }),
    },
    [`POST ${path}/:id/state`]: { address: action('state'), fields: () => ({ disabled: 'yes' }) },
    [`POST ${path}/:id/rotate`]: { address: action('rotate'), fields: () => ({ version: '1' }) },
    [`POST ${path}/:id/delete`]: {
      address: action('delete'),
      fields: () => ({ confirm: 'yes' }),
      mistake: () => ({}),
    },
  }
}

function linkExamples(): Record<string, Example> {
  const path = '/sites/:domain/settings/links'
  const one = ({ domain, linkId }: OwnThings) => `/sites/${domain}/settings/links/${linkId}`
  const fields = {
    name: 'Weekly',
    expiry: '7',
    filters: '',
    country: 'DE',
    device: '',
    hostname: '',
    utm_source: '',
    password: '',
  }
  return {
    [`GET ${path}`]: {},
    [`GET ${path}/new`]: {},
    [`POST ${path}`]: {
      fields: () => ({ ...fields, nonce: 'a-nonce-of-22-letters_' }),
      mistake: () => ({ ...fields, password: 'a long password', embeddable: 'yes', nonce: 'a-nonce-of-22-letters_' }),
    },
    [`GET ${path}/:id`]: { address: one },
    [`POST ${path}/:id/renew`]: {
      address: (things) => `${one(things)}/renew`,
      fields: () => ({ nonce: 'another-nonce-of-22-le' }),
    },
    [`POST ${path}/:id/revoke`]: {
      address: (things) => `${one(things)}/revoke`,
      fields: () => ({ confirm: 'yes' }),
      mistake: () => ({}),
    },
  }
}

/** The same pages in the settings of a site and in the account. */
function keyExamples(path: string, listOf: (things: OwnThings) => string): Record<string, Example> {
  const inAccount = path.startsWith('/account')
  const query = ({ accountId }: OwnThings) => (inAccount ? `?account=${accountId}` : '')
  const account = ({ accountId }: OwnThings): Record<string, string> => (inAccount ? { account: accountId } : {})
  const list = (things: OwnThings) => listOf(things) + query(things)
  const one = (things: OwnThings) => `${listOf(things)}/${things.keyId}${query(things)}`
  const action = (name: string) => (things: OwnThings) => `${listOf(things)}/${things.keyId}/${name}`
  const nonce = 'a-nonce-of-22-letters_'
  return {
    [`GET ${path}`]: { address: list },
    [`GET ${path}/new`]: { address: (things) => `${listOf(things)}/new${query(things)}` },
    [`POST ${path}`]: {
      address: listOf,
      fields: (things) => ({ ...account(things), name: 'Report', scope: things.domain, expiry: '30', nonce }),
      mistake: (things) => ({ ...account(things), name: '', scope: things.domain, expiry: '30', nonce }),
    },
    [`GET ${path}/:id`]: { address: one },
    [`POST ${path}/:id/state`]: {
      address: action('state'),
      fields: (things) => ({ ...account(things), disabled: 'yes' }),
    },
    [`POST ${path}/:id/expiry`]: {
      address: action('expiry'),
      fields: (things) => ({ ...account(things), expiry: '30' }),
      mistake: (things) => ({ ...account(things), expiry: 'date', date: '2020-01-01' }),
    },
    [`POST ${path}/:id/rotate`]: {
      address: action('rotate'),
      fields: (things) => ({ ...account(things), overlap: '1h', expiry: 'never', nonce }),
      mistake: (things) => ({ ...account(things), overlap: '2h', expiry: 'never', nonce }),
    },
    [`POST ${path}/:id/delete`]: {
      address: action('delete'),
      fields: (things) => ({ ...account(things), confirm: 'yes' }),
      mistake: account,
    },
  }
}

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

export function exampleOf(route: Route): Example {
  const example = examples[nameOf(route)]
  if (!example) throw new Error(`${nameOf(route)} has no example in test/console/route-examples.ts`)
  return example
}

export const addressOf = (route: Route, things: OwnThings): string =>
  exampleOf(route).address?.(things) ?? route.path.replace(':domain', things.domain)
