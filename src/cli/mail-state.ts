import { mailSettingsOf } from '../mail/settings.ts'
import type { Context } from './command.ts'

/** For `footfall doctor`: whether mail can be sent, and what was not. */
export async function mailState({
  config,
  postgres,
}: Context): Promise<{ state: 'ok' | 'warning' | 'failed'; found: string; advice?: string }> {
  const settings = mailSettingsOf(config)
  if (!settings) return { state: 'ok', found: 'not configured; invitations and links are copied by hand' }
  const { connectToMailServer } = await import('../mail/smtp.ts') // loaded only here, because it would delay every other command
  const { host, port, needsTls, isSecure } = settings.server
  try {
    const connection = await connectToMailServer({ ...settings, answerMs: 5_000 })
    connection.close()
  } catch (error) {
    const demand = needsTls && !isSecure ? ' It demands STARTTLS; with ?tls=off mail is sent without encryption.' : ''
    return {
      state: 'failed',
      found: `${host}:${port} cannot be used (${(error as Error).message})`,
      advice: `Check SMTP_URL.${demand} Until then mail waits.`,
    }
  }
  const [stuck] = await postgres<[{ failed: number; doubtful: number }]>`
    SELECT count(*) FILTER (WHERE state = 'failed')::int AS failed, count(*) FILTER (WHERE state = 'in doubt')::int AS doubtful
    FROM outbox`
  if (stuck.failed + stuck.doubtful === 0) return { state: 'ok', found: `${host}:${port} takes mail` }
  return {
    state: 'warning',
    found: `${host}:${port} takes mail; ${stuck.failed} failed, ${stuck.doubtful} in doubt`,
    advice: 'See: footfall mail list',
  }
}
