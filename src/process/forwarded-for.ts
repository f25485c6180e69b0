// How `footfall doctor` learns what arrives behind the proxies: it signs a question with a key secret, and the answer repeats the
// X-Forwarded-For that arrived. Nobody else gets an answer, because it would tell whether a forged X-Forwarded-For is believed (decision D-227).
import { createHmac, timingSafeEqual } from 'node:crypto'

export const questionHeader = 'footfall-doctor'
export const answerHeader = 'footfall-forwarded-for'

const maxAgeMs = 60_000

const sign = (secret: Buffer, time: string): string =>
  createHmac('sha256', secret).update(`forwarded for ${time}`).digest('base64url')

export const askForwardedFor = (secret: Buffer, now: number): string => `${now}.${sign(secret, `${now}`)}`

/** The headers of an answer: none, unless somebody who has one of the secrets wrote the question within the last minute. */
export function answerDoctor(
  secrets: readonly { secret: Buffer }[],
  headers: Record<string, string | string[] | undefined>,
  now: number,
): Record<string, string> {
  const question = headers[questionHeader]
  if (typeof question !== 'string') return {}
  const [time = '', signature = ''] = question.split('.')
  const isSigned = secrets.some(({ secret }) => {
    const [expected, given] = [Buffer.from(sign(secret, time)), Buffer.from(signature)]
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!isSigned || Math.abs(now - Number(time)) > maxAgeMs) return {}
  return { [answerHeader]: String(headers['x-forwarded-for'] ?? '') }
}
