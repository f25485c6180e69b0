import type { KeySecrets } from '../accounts/keys.ts'
import type { Outbox } from './outbox.ts'
import type { Mailbox, MailServer, MailSettings } from './smtp.ts'

interface MailConfig {
  SMTP_URL: MailServer | undefined
  MAIL_FROM: Mailbox | undefined
  PUBLIC_URL: string | undefined
  KEY_SECRETS: KeySecrets
}

/** Undefined: no mail server is configured, and Footfall sends no mail. */
export const mailSettingsOf = ({ SMTP_URL: server, MAIL_FROM: from }: MailConfig): MailSettings | undefined =>
  server && from ? { server, from } : undefined

/** Undefined: messages would wait for ever, so none is written. */
export const outboxOf = ({ SMTP_URL, PUBLIC_URL: publicUrl, KEY_SECRETS: secrets }: MailConfig): Outbox | undefined =>
  SMTP_URL && publicUrl ? { secrets, publicUrl } : undefined
