// The words of every mail about accounts and sign-ins. Names of accounts and keys come from people; the layout makes them harmless. Every
// link is made from PUBLIC_URL.
import { shortLetter } from '../mail/layout.ts'
import type { Letter } from '../mail/letter.ts'
import type { Outbox } from '../mail/outbox.ts'
import { type Actor, commandLine } from './audit-log.ts'
import type { Role } from './members.ts'
import { type LinkPurpose, lifetimes, linkAddress } from './one-time-links.ts'
import type { Origin } from './sessions.ts'

type Base = Pick<Outbox, 'publicUrl'>

/** `2026-11-18 09:14 UTC` */
const minuteText = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const worksOnce = (purpose: LinkPurpose): string => `The link works once, within ${lifetimes[purpose]}.`

const whoSignsIn = ({ publicUrl }: Base): string =>
  `You get this mail because you can sign in to Footfall at ${publicUrl}.`

const whoOwns = ({ publicUrl }: Base): string =>
  `You get this mail because you own this account of Footfall at ${publicUrl}.`

/** The page “Your sign-in”. */
const ownSignIn = ({ publicUrl }: Base) => ({ name: 'Your sign-in', href: `${publicUrl}/account/security` })

const whatRolesMay: Readonly<Record<Role, string>> = {
  owner: 'As an owner you can change everything.',
  viewer: 'As a viewer you can see everything, but change nothing.',
}

export const invitationLetter = (
  { publicUrl }: Base,
  { account, by, role, token }: { account: string; by: Actor; role: Role; token: string },
): Letter =>
  shortLetter({
    subject: `Invitation to ${account}`,
    title: `Join ${account}`,
    paragraphs: [
      `${by.actor === commandLine.actor ? 'Whoever runs this Footfall' : by.actor} invites you to see how the sites of ${account} do. ${whatRolesMay[role]}`,
      worksOnce('invitation'),
    ],
    button: { name: 'Open the invitation', href: linkAddress(publicUrl, 'invitation', token) },
    footer: `Somebody typed your address at ${publicUrl}. If you expect no invitation, ignore this mail: nothing happens.`,
  })

export const setupLetter = ({ publicUrl }: Base, token: string): Letter =>
  shortLetter({
    subject: 'Set up Footfall',
    title: 'Set up Footfall',
    paragraphs: ['You become the first owner of a new installation of Footfall.', worksOnce('setup')],
    button: { name: 'Choose a password', href: linkAddress(publicUrl, 'setup', token) },
    footer: `Whoever runs Footfall at ${publicUrl} typed your address. If you expect nothing, ignore this mail: nothing happens.`,
  })

export const resetLetter = (base: Base, email: string, token: string): Letter =>
  shortLetter({
    subject: 'Set a new password for Footfall',
    title: 'Set a new password',
    paragraphs: [
      `Somebody, probably you, asked for a link to set a new password for ${email}. ${worksOnce('reset')}`,
      'A new password signs you out everywhere and disconnects single sign-on. A second factor stays as it is.',
    ],
    button: { name: 'Set a new password', href: linkAddress(base.publicUrl, 'reset', token) },
    footer: `${whoSignsIn(base)} If you did not ask for it, ignore this mail: your password has not changed.`,
  })

export const noPasswordLetter = (base: Base, email: string): Letter =>
  shortLetter({
    subject: 'You have no password for Footfall',
    title: 'You have no password',
    paragraphs: [
      `Somebody, probably you, asked for a link to set a new password for ${email}. But you have none: you sign in with single sign-on.`,
      'If that does not work any more, ask whoever runs your Footfall for a link to set a password.',
    ],
    footer: `${whoSignsIn(base)} If you did not ask for it, ignore this mail: nothing has changed.`,
  })

export const newSignInLetter = (
  base: Base,
  email: string,
  { address, browser, how, at }: Origin & { how: string; at: Date },
): Letter =>
  shortLetter({
    subject: `New sign-in to Footfall with ${browser}`,
    title: 'New sign-in',
    paragraphs: [
      `Somebody signed in as ${email}${how}, in a browser that was not used before.`,
      `When: ${minuteText(at)}. Browser: ${browser}. Network: ${address}.`,
      'If that was you, all is well.',
      `If not, open “Your sign-in”, change your password and sign out everywhere. If your password does not work any more, set a new one at ${base.publicUrl}/login/forgotten. If you use single sign-on, change your password there, too.`,
    ],
    button: ownSignIn(base),
    footer: whoSignsIn(base),
  })

export const secondFactorLetter = (
  base: Base,
  email: string,
  { isOn, by, at }: { isOn: boolean; by: Actor; at: Date },
): Letter => {
  const state = isOn ? 'on' : 'off'
  const isOperator = by.actor === commandLine.actor
  return shortLetter({
    subject: `Your second factor for Footfall is ${state}`,
    title: `Your second factor is ${state}`,
    paragraphs: [
      isOn
        ? `Signing in as ${email} now also asks for a code of an authenticator app.`
        : `Signing in as ${email} does not ask for a code any more.`,
      `When: ${minuteText(at)}. ${isOperator ? 'Whoever runs this Footfall did it.' : `Network: ${by.address}.`}`,
      isOperator
        ? 'If you did not ask for it, talk to whoever runs your Footfall.'
        : 'If that was not you, somebody knows your password: change it, and ask whoever runs your Footfall for help if you cannot sign in.',
    ],
    button: ownSignIn(base),
    footer: whoSignsIn(base),
  })
}

export interface ExpiringKey {
  name: string
  prefix: string
  expiresAt: Date
}

/** The page shows them all. */
const maxKeys = 20

export const expiringKeysLetter = (
  base: Base,
  { id, name }: { id: string; name: string },
  keys: readonly ExpiringKey[],
): Letter => {
  const [first] = keys as [ExpiringKey]
  const what = keys.length === 1 ? `The API key “${first.name}”` : `${keys.length} API keys of ${name}`
  return shortLetter({
    subject: `${what} will expire soon`,
    title: `${what} will expire soon`,
    paragraphs: [
      ...keys.slice(0, maxKeys).map((key) => `“${key.name}” (${key.prefix}…): ${minuteText(key.expiresAt)}`),
      ...(keys.length > maxKeys ? [`And ${keys.length - maxKeys} more.`] : []),
      `Programs that use ${keys.length === 1 ? 'it' : 'them'} are refused then. Rotate a key to replace it without an outage, or change its expiry.`,
    ],
    button: { name: 'API keys', href: `${base.publicUrl}/account/keys?account=${id}` },
    footer: whoOwns(base),
  })
}

export const importLetter = (
  base: Base,
  { domain, events, days }: { domain: string; events: number | undefined; days: number },
): Letter =>
  shortLetter({
    subject: `The import into ${domain} is finished`,
    title: 'The import is finished',
    paragraphs: [
      `${events === undefined ? 'Daily sums of' : `${events.toLocaleString('en')} events on`} ${days.toLocaleString('en')} days were imported into ${domain}. Its reports contain them now.`,
    ],
    button: { name: 'Open the dashboard', href: `${base.publicUrl}/sites/${encodeURIComponent(domain)}` },
    footer: whoOwns(base),
  })
