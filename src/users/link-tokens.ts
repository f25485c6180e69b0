// The token in the address of a shared link: 256 random bits, and 48 bits of a keyed checksum. A made-up token is refused before anything is
// read or counted, so strangers cannot use up the limits of links (decision D-208). Some links cannot be checked this way: older ones have
// no checksum, and the secret of others was removed from KEY_SECRETS. Their hashes are kept in memory.
import { createHmac, hash, randomBytes } from 'node:crypto'
import { derivedKeys } from '../accounts/derived-keys.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import { minuteMs } from '../durations.ts'
import type { Postgres } from '../stores/postgres.ts'

const randomLength = 43
/** With the checksum, or without it. */
const shape = /^[\w-]{43}([\w-]{8})?$/
/** New links without a valid checksum are rare: they come from a process with an older version or other secrets, or a restored database. */
const rereadMs = minuteMs

export function newLinkToken(secrets: KeySecrets): string {
  const random = randomBytes(32).toString('base64url')
  return random + checksum(derivedKeys(secrets, 'link token')[0], random)
}

/** PostgreSQL stores only this hash of a token. */
export const hashOfToken = (token: string): Buffer => hash('sha256', token, 'buffer')

export interface LinkTokens {
  /** False: no link has this token. */
  mayBeLink(token: string): Promise<boolean>
}

export function openLinkTokens(postgres: Postgres, secrets: KeySecrets, now = () => performance.now()): LinkTokens {
  const keys = derivedKeys(secrets, 'link token')
  let unsigned: Promise<ReadonlySet<string>> | undefined
  let readAt = 0

  function unsignedHashes(): Promise<ReadonlySet<string>> {
    if (unsigned && now() - readAt < rereadMs) return unsigned
    const before = unsigned
    readAt = now()
    unsigned = readUnsignedHashes(postgres, secrets).catch((error) => {
      unsigned = before
      if (before) return before
      throw error
    })
    return unsigned
  }

  return {
    async mayBeLink(token) {
      if (!shape.test(token)) return false
      const [random, tokenChecksum] = [token.slice(0, randomLength), token.slice(randomLength)]
      if (keys.some((key) => checksum(key, random) === tokenChecksum)) return true
      return (await unsignedHashes()).has(textOf(hashOfToken(token)))
    },
  }
}

async function readUnsignedHashes(postgres: Postgres, secrets: KeySecrets): Promise<ReadonlySet<string>> {
  const versions = secrets.map(({ version }) => version)
  const rows = await postgres<{ hash: Buffer }[]>`
    SELECT hash FROM shared_links
    WHERE revoked_at IS NULL AND (secret_version IS NULL OR secret_version NOT IN ${postgres(versions)})`
  return new Set(rows.map((row) => textOf(row.hash)))
}

const textOf = (bytes: Buffer): string => bytes.toString('latin1')

const checksum = (key: Buffer, random: string): string =>
  createHmac('sha256', key).update(random).digest('base64url').slice(0, 8)
