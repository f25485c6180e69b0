// Codes of authenticator apps (RFC 6238 with its defaults: SHA-1, 6 digits, a new code every 30 seconds).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const stepMs = 30_000

/** 160 bits in base32, as people type them into an app. */
export const newTotpSecret = (): string => Array.from(randomBytes(32), (byte) => base32[byte & 31]).join('')

export const isTotpSecret = (text: string): boolean => /^[A-Z2-7]{32}$/.test(text)

export const stepAt = (now: number): number => Math.floor(now / stepMs)

export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (mac.at(-1) as number) & 15
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}

/** The step of the code: the current one, or the one before or after it, for clocks that are off and people who type slowly. */
export function stepOfCode(secret: string, code: string, now: number): number | undefined {
  const typed = Buffer.from(code)
  return [0, -1, 1]
    .map((difference) => stepAt(now) + difference)
    .find((step) => {
      const expected = Buffer.from(codeAt(secret, step))
      return typed.length === expected.length && timingSafeEqual(typed, expected)
    })
}

/** The link that an app reads from the QR code. */
export const otpauthLink = (secret: string, email: string): string =>
  `otpauth://totp/Footfall:${encodeURIComponent(email)}?secret=${secret}&issuer=Footfall`

function bytesOf(secret: string): Buffer {
  const bits = Array.from(secret, (character) => base32.indexOf(character).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}
