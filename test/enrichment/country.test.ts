import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Countries, openCountries } from '../../src/enrichment/country.ts'
import { countryFile } from './country-file.ts'

const maxMind = (code: string) => ({ country: { iso_code: code }, continent: { code: 'EU' } })
const dbIp = (code: string) => ({ country_code: code })

/** A file for one test. It is replaced as an update does: written beside the old one and renamed over it. */
function fileOf(t: TestContext, content: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-countries-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'countries.mmdb')
  writeFileSync(path, content)
  return {
    path,
    replace(next: Buffer) {
      writeFileSync(`${path}.new`, next)
      renameSync(`${path}.new`, path)
    },
    remove: () => rmSync(path),
  }
}

async function open(t: TestContext, path?: string) {
  const broken: string[] = []
  const countries = await openCountries(path, { pollMs: 10, onBroken: ({ message }) => broken.push(message) })
  t.after(() => countries.close())
  return { countries, broken }
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 5_000
  while (!isSo()) {
    assert.ok(Date.now() < end, `${what} did not happen within 5 s`)
    await pause(5)
  }
}

const placed = (countries: Countries, ...addresses: string[]) =>
  addresses.map((address) => countries.countryOf(address))

test('without a configured file, the packaged one knows well-known addresses', async (t) => {
  const { countries } = await open(t)
  // RIPE NCC in Amsterdam, DENIC in Frankfurt, Internet Initiative Japan, the University of Cape Town.
  assert.deepEqual(placed(countries, '193.0.6.139', '81.91.164.5', '202.232.2.1', '137.158.1.1'), [
    'NL',
    'DE',
    'JP',
    'ZA',
  ])
  assert.deepEqual(placed(countries, '::ffff:193.0.6.139', '2001:67c:2e8::1'), ['NL', 'NL'])
  assert.deepEqual(placed(countries, '127.0.0.1', '10.1.2.3', '::1', 'fe80::1'), ['ZZ', 'ZZ', 'ZZ', 'ZZ'])
})

test('both record shapes are read, for IPv4, IPv6 and mapped addresses in either notation', async (t) => {
  for (const shape of [maxMind, dbIp]) {
    const content = countryFile([
      { network: '203.0.113.0/24', record: shape('DE') },
      { network: '2001:db8::/32', record: shape('FR') },
    ])
    const { countries } = await open(t, fileOf(t, content).path)
    assert.deepEqual(placed(countries, '203.0.113.0', '203.0.113.255', '203.0.112.255'), ['DE', 'DE', 'ZZ'])
    assert.deepEqual(placed(countries, '2001:db8::1', '2001:db9::1', '2001:DB8:FFFF::'), ['FR', 'ZZ', 'FR'])
    assert.deepEqual(placed(countries, '::ffff:203.0.113.9', '::FFFF:203.0.113.9', '::ffff:cb00:7109'), [
      'DE',
      'DE',
      'DE',
    ])
  }
})

test('text that is no address, unknown countries and missing addresses give ZZ', async (t) => {
  const content = countryFile([
    { network: '198.51.100.0/25', record: dbIp('EU') },
    { network: '198.51.100.128/25', record: { city: 'Nowhere' } },
    { network: '203.0.113.0/24', record: dbIp('de') },
  ])
  const { countries } = await open(t, fileOf(t, content).path)
  assert.deepEqual(placed(countries, '198.51.100.1', '198.51.100.200', '203.0.113.1'), ['ZZ', 'ZZ', 'DE'])
  for (const nonsense of ['', 'x', '203.0.113', '203.0.113.1:80', '[2001:db8::1]', '::ffff:', '::ffff:1.2.3.4.5']) {
    assert.equal(countries.countryOf(nonsense), 'ZZ', nonsense)
  }
})

test('a file for IPv4 only never treats an IPv6 address as IPv4', async (t) => {
  const content = countryFile([{ network: '32.1.0.0/16', record: dbIp('US') }], 4)
  const { countries } = await open(t, fileOf(t, content).path)
  assert.deepEqual(placed(countries, '32.1.13.184', '2001:db8::1'), ['US', 'ZZ']) // 2001: begins with the bytes 32 and 1
})

test('a replaced file is read without a restart; a broken one is reported once and changes nothing', async (t) => {
  const of = (code: string) => countryFile([{ network: '203.0.113.0/24', record: dbIp(code) }])
  const file = fileOf(t, of('DE'))
  const { countries, broken } = await open(t, file.path)
  const place = () => countries.countryOf('203.0.113.1')
  assert.equal(place(), 'DE')

  file.replace(of('FR'))
  await until(() => place() === 'FR', 'the new file')

  file.replace(Buffer.from('this is not a database'))
  await until(() => broken.length > 0, 'the complaint')
  await pause(100) // ten more polls
  assert.equal(broken.length, 1)
  assert.equal(place(), 'FR')

  file.replace(of('IT').subarray(100)) // the beginning is missing, the end is intact
  await until(() => broken.length > 1, 'the second error')
  assert.equal(place(), 'FR')

  file.remove()
  await until(() => broken.length > 2, 'the error about a missing file')
  await pause(100)
  assert.equal(broken.length, 3)
  assert.equal(place(), 'FR')

  file.replace(of('ES'))
  await until(() => place() === 'ES', 'the repaired file')
  assert.equal(broken.length, 3)
})

test('without a usable file at the start, nothing is opened', async (t) => {
  await assert.rejects(openCountries(join(tmpdir(), 'footfall-no-such-file.mmdb')), /ENOENT/)
  await assert.rejects(openCountries(fileOf(t, Buffer.from('nothing')).path))
})
