import type { Channel } from '../traffic/channel.ts'
import { domains, names, type SourceKind } from './channel-rules.ts'
import type { Source } from './source.ts'

/** The first matching rule decides. Their order is decision D-20, the fields that each one reads are decision D-229. */
export function classifyChannel(source: Source): Channel {
  const medium = (source.campaign?.medium ?? '').trim().toLowerCase()
  const campaign = (source.campaign?.campaign ?? '').trim().toLowerCase()
  const utmSource = source.utmSource.trim().toLowerCase()
  const isPaid = source.clickId !== '' || paidMedium.test(medium)
  // Who tagged a link with a source and a channel knows better than the referrer, which may be the page before or the reader's mailbox.
  const host = utmSource !== '' && namesChannel(medium) ? '' : source.referrer
  const kind = kindOfName(utmSource) ?? kindOfHost(host) ?? kindOfClick(source, medium)
  const isShopping = kind === 'shopping' || shoppingCampaign.test(campaign)

  if (campaign.includes('cross-network') || medium === 'cross-network') return 'Cross-network'
  if (isPaid && isShopping) return 'Paid Shopping'
  if (isPaid && kind === 'search') return 'Paid Search'
  if (isPaid && kind === 'social') return 'Paid Social'
  if (isPaid && kind === 'video') return 'Paid Video'
  if (displayMedium.test(medium)) return 'Display'
  if (isPaid) return 'Paid Other'
  if (isShopping) return 'Organic Shopping'
  if (kind === 'social' || socialMedium.test(medium)) return 'Organic Social'
  if (kind === 'video' || medium.includes('video')) return 'Organic Video'
  if (kind === 'assistant') return 'AI Assistants'
  if (kind === 'search' || medium === 'organic') return 'Organic Search'
  if (kind === 'mail' || mailMedium.test(medium)) return 'Email'
  if (affiliateMedium.test(medium)) return 'Affiliates'
  if (audioMedium.test(medium)) return 'Audio'
  if (medium === 'sms' || utmSource === 'sms') return 'SMS'
  if (pushMedium.test(medium) || utmSource === 'firebase') return 'Mobile Push Notifications'
  if (source.referrer !== '' || utmSource !== '' || referralMedium.test(medium)) return 'Referral'
  return 'Direct'
}

// `cp` matches cpc, cpm, cpa, cpv and the other billing models.
const paidMedium = /cp|^ppc$|^retargeting$|^paid/
const displayMedium = /^(display|banner|expandable|interstitial|cpm)$/
// `shop` as a whole word, or `shopping`; not inside "workshop" or "bishop".
const shoppingCampaign = /(^|[^a-z])shop([^a-z]|$)|shopping/
const socialMedium = /^(social|social[-_ ](network|media)|sm)$/
const mailMedium = /^(e[-_ ]?mail|mail|newsletter)$/
const affiliateMedium = /^affiliates?$/
const audioMedium = /^(audio|podcast)$/
const pushMedium = /push$|mobile|notification/
const referralMedium = /^(referral|app|link)$/
const channelMedia = [
  /^(cross-network|organic|sms)$|video/,
  displayMedium,
  socialMedium,
  mailMedium,
  affiliateMedium,
  audioMedium,
  pushMedium,
  referralMedium,
]

/** A medium such as cpc only says that a click was paid: the sender decides whether by a search engine or a social network. */
const namesChannel = (medium: string): boolean => channelMedia.some((pattern) => pattern.test(medium))

function byWord(table: Readonly<Record<SourceKind, readonly string[]>>): ReadonlyMap<string, SourceKind> {
  return new Map(Object.entries(table).flatMap(([kind, words]) => words.map((word) => [word, kind as SourceKind])))
}

const kindsOfDomains = byWord(domains)
const kindsOfNames = byWord(names)

/** utm_source is either a word such as `newsletter` or a domain. */
function kindOfName(name: string): SourceKind | undefined {
  return kindsOfNames.get(name) ?? (name.includes('.') ? kindOfHost(name.replace(/^www\./, '')) : undefined)
}

// google.de and google.co.uk, but not google.example.com, which anybody can register.
const countryEnding = /^(com|net|(com?\.)?[a-z]{2})$/

/** Tries the whole host first and its last two labels last: the longest known domain decides. */
function kindOfHost(host: string): SourceKind | undefined {
  const labels = host.split('.')
  for (let first = 0; first < labels.length - 1; first++) {
    const ending = labels.slice(first + 1).join('.')
    const kind =
      kindsOfDomains.get(`${labels[first]}.${ending}`) ??
      (countryEnding.test(ending) ? kindsOfDomains.get(`${labels[first]}.*`) : undefined)
    if (kind) return kind
  }
  return undefined
}

/** A paid click without a source comes from the search engine whose click id it carries, unless its medium says it was a banner. */
const kindOfClick = ({ clickId }: Source, medium: string): SourceKind | undefined =>
  clickId !== '' && !displayMedium.test(medium) ? 'search' : undefined
