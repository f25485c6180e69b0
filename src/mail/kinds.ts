// Every kind of message that Footfall sends.

interface KindOfMessage {
  /** How `footfall mail list` names it. */
  name: string
  /** Whether it is sent again when nobody knows if the mail server has it: a second copy says the same and does nothing twice. */
  mayRepeat: boolean
}

export const kinds = {
  report: { name: 'report', mayRepeat: false },
  confirmation: { name: 'confirmation of a report', mayRepeat: true },
  invitation: { name: 'invitation', mayRepeat: true },
  reset: { name: 'password reset', mayRepeat: true },
  'new sign-in': { name: 'notice of a sign-in', mayRepeat: true },
  'second factor': { name: 'notice about the second factor', mayRepeat: true },
  'key expiry': { name: 'notice of an expiring key', mayRepeat: true },
  alert: { name: 'alert', mayRepeat: false },
  'import finished': { name: 'notice of an import', mayRepeat: true },
} as const satisfies Record<string, KindOfMessage>

export type Kind = keyof typeof kinds

export const repeatableKinds = (Object.keys(kinds) as Kind[]).filter((kind) => kinds[kind].mayRepeat)

/** The pauses after each failure. After the last one, the message has failed for good (about 42 hours). */
export const retryMinutes = [1, 5, 15, 60, 4 * 60, 12 * 60, 24 * 60] as const
