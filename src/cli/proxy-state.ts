import { causeOf } from '../process/error-hints.ts'
import { answerHeader, askForwardedFor, questionHeader } from '../process/forwarded-for.ts'
import type { Context } from './command.ts'

/** An address for documentation (RFC 3849): nobody has it. */
const forged = '2001:db8::f007:fa11'

/** For `footfall doctor`: asks Footfall at its public address, with a made-up X-Forwarded-For, what arrived there. */
export async function proxyState({
  config: { PUBLIC_URL, KEY_SECRETS },
}: Context): Promise<{ state: 'ok' | 'warning'; found: string; advice?: string }> {
  if (!PUBLIC_URL?.startsWith('https:')) return { state: 'ok', found: 'not checked: PUBLIC_URL is not set to https' }
  const warning = (found: string, advice: string) => ({ state: 'warning' as const, found, advice })
  const answer = await fetch(`${PUBLIC_URL}/login`, {
    redirect: 'manual',
    headers: { 'X-Forwarded-For': forged, [questionHeader]: askForwardedFor(KEY_SECRETS[0].secret, Date.now()) },
    signal: AbortSignal.timeout(5_000),
  }).catch((error: Error) => error)
  if (answer instanceof Error) {
    return warning(
      `${PUBLIC_URL} does not answer (${causeOf(answer).message})`,
      'Start Footfall and the proxy in front of it, then run this again; check PUBLIC_URL and the certificate.',
    )
  }
  const arrived = answer.headers.get(answerHeader)
  if (arrived === null) {
    return warning(
      `${PUBLIC_URL} answers with HTTP ${answer.status}, and not as the console of this Footfall`,
      'Start Footfall; check PUBLIC_URL, KEY_SECRETS and where the proxy sends requests.',
    )
  }
  if (arrived === forged) {
    return warning(
      `the proxy at ${PUBLIC_URL} passes on the X-Forwarded-For that a client made up, so anybody can pretend to be another visitor`,
      'Let the proxy replace the header or append to it: deploy/nginx/footfall.conf and deploy/Caddyfile do.',
    )
  }
  return { state: 'ok', found: `${PUBLIC_URL} answers, and a made-up X-Forwarded-For is not believed` }
}
