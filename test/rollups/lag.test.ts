import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { lastClosedDay } from '../../src/calendar/days.ts'
import { rollupLagSeconds } from '../../src/rollups/lag.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { startApiProcess } from '../support/api-process.ts'
import { eventOf } from '../support/events.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'

const daySeconds = 86_400

test('the rollup lag is the age of the first closed day without rollups, in the time zone of the site', async (t) => {
  const { addresses, remove } = await createStores()
  const stores = connect(addresses)
  t.after(async () => {
    await disconnect(stores)
    await remove()
  })
  const { postgres, clickhouse } = stores
  assert.equal(await rollupLagSeconds(postgres), 0)
  const zone = 'Pacific/Kiritimati' // 14 hours ahead of UTC
  const accountId = await createAccount(postgres, { name: 'Lag', plan: 'Free' })
  const siteId = await createSite(postgres, { accountId, domain: 'lag.example', timeZone: zone })
  const closed = Temporal.PlainDate.from(lastClosedDay(zone, Date.now()))
  const first = closed.subtract({ days: 9 })
  const events = [eventOf({ at: `${first}T12:00:00+14:00` }, siteId, zone)]
  await recordBatch(clickhouse, { id: randomUUID(), events })

  await rollUpSite(stores, siteId, closed.subtract({ days: 3 }).toString())
  // The day after the last day rolled up closed half an hour after it ended.
  const missing = closed.subtract({ days: 2 })
  const closedAt = missing.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds / 1000 + 1_800
  const expected = Date.now() / 1000 - closedAt
  const lag = await rollupLagSeconds(postgres)
  assert.ok(expected > 2 * daySeconds && Math.abs(lag - expected) < 10, `${lag} instead of ${expected}`)

  const api = await startApiProcess(addresses)
  t.after(() => api.stop())
  const metrics = await (await fetch(api.metricsUrl)).text()
  const shown = Number(/^footfall_rollup_lag_seconds (\S+)$/m.exec(metrics)?.[1])
  assert.ok(Math.abs(shown - expected) < 20, `${shown}`)
  assert.match(metrics, /^footfall_build_info\{version="\d+\.\d+\.\d+",node="26[^"]*"\} 1$/m)
  assert.match(metrics, /^# TYPE footfall_request_duration_seconds histogram$/m)

  await rollUpSite(stores, siteId, closed.toString())
  assert.equal(await rollupLagSeconds(postgres), 0)
})
