import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { dayIn } from '../../src/enrichment/day.ts'
import { deleteOldSalts, openSalts } from '../../src/enrichment/salts.ts'
import { visitorIdOf } from '../../src/enrichment/visitor.ts'
import { boundReads } from '../../src/stores/request-postgres.ts'
import { openStores } from '../support/stores.ts'

const at = (iso: string) => Date.parse(iso)
const someone = { siteId: 'site_a', country: 'DE', device: 'Desktop' } as const
const sender = { ip: '192.0.2.1', userAgent: 'a browser' }

test('a day begins at midnight in its zone, also at +5:45 and when clocks change', () => {
  assert.equal(dayIn('Asia/Kathmandu', at('2026-11-15T18:14:59.999Z')), '2026-11-15')
  assert.equal(dayIn('Asia/Kathmandu', at('2026-11-15T18:15:00Z')), '2026-11-16')
  // Berlin: 2026-03-29 has 23 hours, 2026-10-25 has 25.
  assert.equal(dayIn('Europe/Berlin', at('2026-03-28T22:59:59.999Z')), '2026-03-28')
  assert.equal(dayIn('Europe/Berlin', at('2026-03-28T23:00:00Z')), '2026-03-29')
  assert.equal(dayIn('Europe/Berlin', at('2026-03-29T21:59:59.999Z')), '2026-03-29')
  assert.equal(dayIn('Europe/Berlin', at('2026-03-29T22:00:00Z')), '2026-03-30')
  assert.equal(dayIn('Europe/Berlin', at('2026-10-24T22:00:00Z')), '2026-10-25')
  assert.equal(dayIn('Europe/Berlin', at('2026-10-25T22:59:59.999Z')), '2026-10-25')
  assert.equal(dayIn('Europe/Berlin', at('2026-10-25T23:00:00Z')), '2026-10-26')
  // Beirut: on 2026-03-29 the clock goes from 0:00 to 1:00, so the day begins at one.
  assert.equal(dayIn('Asia/Beirut', at('2026-03-28T21:59:59.999Z')), '2026-03-28')
  assert.equal(dayIn('Asia/Beirut', at('2026-03-28T22:00:00Z')), '2026-03-29')
  // And back: the cached day must not be used for another instant.
  assert.equal(dayIn('Asia/Kathmandu', at('2026-11-15T18:14:59.999Z')), '2026-11-15')
})

test('all collectors share one salt per zone and day, and every zone and day has another', async (t) => {
  const { postgres } = await openStores()
  const [one, other] = Array.from({ length: 2 }, () =>
    openSalts(
      postgres,
      boundReads(postgres, () => {}, 10_000),
      () => {},
    ),
  ) as [ReturnType<typeof openSalts>, ReturnType<typeof openSalts>]
  t.after(() => {
    one.close()
    other.close()
  })
  const zone = 'Pacific/Chatham'
  const id = async (salts: typeof one, day: string, inZone = zone) =>
    visitorIdOf(await salts.of(inZone, day), someone, sender)
  const today = await Promise.all([id(one, '2099-01-01'), id(other, '2099-01-01'), id(one, '2099-01-01')])
  assert.equal(new Set(today).size, 1)
  const others = [await id(one, '2099-01-02'), await id(one, '2099-01-01', 'Pacific/Apia')]
  assert.equal(new Set([...today, ...others]).size, 3)
})

test('another site, address, user agent, country or device makes another visitor', async (t) => {
  const { postgres } = await openStores()
  const salts = openSalts(
    postgres,
    boundReads(postgres, () => {}, 10_000),
    () => {},
  )
  t.after(() => salts.close())
  const salt = await salts.of('UTC', '2099-02-01')
  const ids = [
    visitorIdOf(salt, someone, sender),
    visitorIdOf(salt, { ...someone, siteId: 'site_b' }, sender),
    visitorIdOf(salt, { ...someone, country: 'FR' }, sender),
    visitorIdOf(salt, { ...someone, device: 'Mobile' }, sender),
    visitorIdOf(salt, someone, { ...sender, ip: '192.0.2.2' }),
    visitorIdOf(salt, someone, { ...sender, userAgent: 'another browser' }),
  ]
  assert.equal(new Set(ids).size, ids.length)
  assert.equal(visitorIdOf(salt, someone, sender), ids[0])
  assert.match(ids[0] as string, /^\d{1,20}$/)
})

test('an id is the start of the HMAC of site, address, country, device and user agent, in any alphabet', () => {
  const key = createSecretKey(Buffer.from('0123456789abcdef0123456789abcdef'))
  // The first 64 bits of: printf 'site_a\\0192.0.2.1\\0DE\\0Desktop\\0…' | openssl dgst -sha256 -mac HMAC -macopt key:…
  const expected: [userAgent: string, id: bigint][] = [
    ['a browser', 0xc79741e247e72108n],
    ['', 0x7403081bce3c7080n],
    ['ünïcödé 浏览器 🧭', 0x8aceb463017ae50dn],
    ['x'.repeat(5000), 0xa5b4a647f3e46339n],
  ]
  for (const [userAgent, id] of expected) {
    assert.equal(visitorIdOf(key, someone, { ...sender, userAgent }), id.toString())
  }
})

test('a salt is deleted exactly 48 hours after its day has ended in the last zone', async (t) => {
  const stores = await openStores()
  const postgres = await stores.postgres.reserve()
  // In a transaction, because every collector that starts on these stores deletes old salts.
  await postgres`BEGIN`
  t.after(async () => {
    await postgres`ROLLBACK`
    postgres.release()
  })
  const left = async () =>
    (await postgres`SELECT day::text FROM salts WHERE time_zone = 'Etc/Test' ORDER BY day`).map(({ day }) => day)
  for (const day of ['1999-12-30', '1999-12-31']) {
    await postgres`INSERT INTO salts VALUES ('Etc/Test', ${day}, ${Buffer.alloc(32)})`
  }
  // 1999-12-30 ends at UTC-12 at 12:00 UTC of the 31st.
  const deleteAt = (iso: string, own = iso) => deleteOldSalts(postgres, at(own), async () => at(iso))
  await deleteAt('2000-01-02T11:59:59Z')
  assert.deepEqual(await left(), ['1999-12-30', '1999-12-31'])
  // By PostgreSQL's clock, and not while the collector's clock differs by more than a minute.
  assert.equal(await deleteAt('2000-01-02T11:59:59Z', '2000-01-02T12:00:10Z'), true)
  assert.equal(await deleteAt('2000-01-02T12:00:00Z', '2000-01-02T12:01:01Z'), false)
  assert.equal(await deleteAt('2010-01-02T12:00:00Z', '2000-01-02T12:00:00Z'), false)
  assert.equal(await deleteOldSalts(postgres, at('2000-01-02T12:00:00Z')), false, 'the real clock is in another year')
  assert.deepEqual(await left(), ['1999-12-30', '1999-12-31'])
  assert.equal(await deleteAt('2000-01-02T12:00:00Z', '2000-01-02T11:59:50Z'), true)
  assert.deepEqual(await left(), ['1999-12-31'])
  await deleteAt('2000-01-03T12:00:00Z')
  assert.deepEqual(await left(), [])
})
