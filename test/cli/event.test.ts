// `footfall event find` in an installation with one site.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { writeDroppedEvents } from '../../src/accounts/dropped-events.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { openSpool } from '../../src/collector/spool/spool.ts'
import type { Whereabouts } from '../../src/tracing/whereabouts.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { browserAgent } from '../support/collector-process.ts'
import { eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { install, runFootfall } from '../support/installation.ts'
import { launchServe } from '../support/serve-process.ts'
import { connect, disconnect, keySecrets } from '../support/stores.ts'

test('event find says whether an event is counted, dropped, in the spool of this machine, or unknown', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-event-'))
  const installation = await install({ SPOOL_FOLDER: folder })
  const stores = connect(installation.addresses)
  t.after(async () => {
    await disconnect(stores)
    await installation.remove()
    rmSync(folder, { recursive: true })
  })
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Events', plan: 'Free' })
  const siteId = await createSite(postgres, { accountId, domain: 'events.example' })
  const run = (...words: string[]) => runFootfall(['event', 'find', ...words], installation.environment)
  const at = new Date(Date.now() - 3_600_000).toISOString()
  const [counted, dropped, spooled] = [randomUUID(), randomUUID(), randomUUID()]
  const event = eventOf(pageview({ at, pathname: '/join', eventId: counted }), siteId, 'UTC')
  await recordBatch(clickhouse, { id: randomUUID(), events: [event] })
  await writeDroppedEvents(postgres, [
    { siteId, eventId: dropped, at: Date.now(), reason: 'hostname_not_allowed', hostname: 'shop.example' },
  ])
  const spool = await openSpool({ folder, maxBytes: 1e9 })
  await spool.append([{ event: { ...event, eventId: spooled }, shard: 1, isRepeatable: true }])
  await spool.close()

  const found = await run(counted)
  assert.equal(found.code, 0, found.stderr)
  assert.match(
    found.stdout,
    /^Counted on \d{4}-\d\d-\d\d \(UTC\), in the session that began at .* with the source none, channel Direct\.$/m,
  )
  assert.match(found.stdout, /^It is a pageview on example\.com\/join\.$/m)
  assert.match(
    (await run(dropped.toUpperCase())).stdout,
    /^Not counted: the host of this page .*\nThe host is shop\.example\.$/m,
  )
  assert.match((await run(spooled, '--site', 'events.example')).stdout, /^Accepted, and on the disk of the collector\./)
  const unknown = await run(randomUUID(), '--json')
  assert.equal(unknown.code, 1)
  assert.deepEqual([JSON.parse(unknown.stdout).state, JSON.parse(unknown.stdout).looked_at.spool], ['unknown', 'whole'])

  assert.match((await run('5')).stderr, /The id of an event is a UUID/)
  assert.match((await run(counted, '--day', 'today')).stderr, /today is no day/)
  await createSite(postgres, { accountId, domain: 'second.example' })
  assert.match((await run(counted)).stderr, /Name it with --site/)
  assert.match((await run(counted, '--site', 'second.example')).stdout, /^Not found on /)
})

test('an API that runs beside the collector looks at its spool, too', async (t) => {
  const { addresses, postgres } = await freshStores((end) => t.after(end))
  const accountId = await createAccount(postgres, { name: 'Events', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'events.example' })
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Test' })
  const server = await launchServe(
    { postgres: addresses.postgres, clickhouse: addresses.clickhouse },
    { DRAIN_SECONDS: '0' },
  )
  t.after(() => server.stop())
  await server.untilReady()
  const id = randomUUID()
  const ask = async () => {
    const answer = await fetch(`${server.url}/api/v2/events/${id}`, {
      headers: { Authorization: `Bearer ${key.text}` },
    })
    return ((await answer.json()) as { data: Whereabouts }).data
  }
  assert.deepEqual([(await ask()).state, (await ask()).looked_at.spool], ['unknown', 'whole'])
  const hit = { n: 'pageview', u: 'https://events.example/', d: 'events.example', id }
  const sent = await fetch(`${server.url}/api/event`, {
    method: 'POST',
    body: JSON.stringify(hit),
    headers: { 'User-Agent': browserAgent },
  })
  assert.equal(sent.status, 202)
  // From the moment of the answer it is somewhere.
  assert.match((await ask()).state, /^(spooled|shipped|counted)$/)
  await eventually(async () => assert.equal((await ask()).state, 'counted'))
})
