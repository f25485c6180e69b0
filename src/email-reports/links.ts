// Links in mails to people who are not signed in. Nobody can make one without KEY_SECRETS, and nothing is stored for them.
import { signed, signedText } from '../accounts/derived-keys.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import type { Outbox } from '../mail/outbox.ts'

/** The pages of all links in mails. */
export const mailedPath = '/reports/'

type ReportAction = 'confirm' | 'unsubscribe'

export const reportLink = ({ secrets, publicUrl }: Outbox, action: ReportAction, id: string): string =>
  `${publicUrl}${mailedPath}${action}/${id}.${signed(secrets, 'report link', `${action} ${id}`).split('.').at(-1)}`

/** The id of the subscription, or undefined if the token is not of one of our links for this action. */
export function subscriptionOfLink(secrets: KeySecrets, action: ReportAction, token: string): string | undefined {
  const [id = '', signature = ''] = token.split('.')
  return signedText(secrets, 'report link', `${action} ${id}.${signature}`) && id
}
