// A change made through one connection takes effect in every API instance within a second, without a call of forget().
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setPlan } from '../../src/accounts/accounts.ts'
import { deleteKey, setKeyDisabled, setKeyExpiry } from '../../src/accounts/keys.ts'
import { setExcludedCountries } from '../../src/accounts/sites.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { pageview } from '../support/events.ts'
import { inTime } from '../support/in-time.ts'
import { type Answer, openWorld, startApi, type World } from '../support/world.ts'
import { as, codeOf, noon } from './vocabulary.ts'

interface Change {
  make(postgres: Postgres, world: World): Promise<unknown>
  /** What both instances see before and after the change. */
  before: string
  after: string
}

/** The error code, or the countries in the response. */
const seen = (answer: Answer) =>
  answer.status === 200 ? answer.json.data.map(({ name }: { name: string }) => name).join() : codeOf(answer)

const steps: Record<string, Change> = {
  'a key is disabled': {
    make: (postgres, { key }) => setKeyDisabled(postgres, key.id, true),
    before: 'France,Germany',
    after: 'key_disabled',
  },
  'the key is enabled again': {
    make: (postgres, { key }) => setKeyDisabled(postgres, key.id, false),
    before: 'key_disabled',
    after: 'France,Germany',
  },
  'the key gets an expiry date in the past': {
    make: (postgres, { key }) => setKeyExpiry(postgres, key.id, new Date('2026-11-01T00:00:00Z')),
    before: 'France,Germany',
    after: 'key_expired',
  },
  'the expiry date is removed': {
    make: (postgres, { key }) => setKeyExpiry(postgres, key.id, null),
    before: 'key_expired',
    after: 'France,Germany',
  },
  'the account is downgraded to the Free plan': {
    make: (postgres, { accountId }) => setPlan(postgres, accountId, 'Free'),
    before: 'France,Germany',
    after: 'plan_required',
  },
  'the account is upgraded': {
    make: (postgres, { accountId }) => setPlan(postgres, accountId, 'Growth'),
    before: 'plan_required',
    after: 'France,Germany',
  },
  'a country is excluded': {
    make: (postgres, { siteId }) => setExcludedCountries(postgres, siteId, ['FR']),
    before: 'France,Germany',
    after: 'Germany',
  },
  'the country is included again': {
    make: (postgres, { siteId }) => setExcludedCountries(postgres, siteId, []),
    before: 'Germany',
    after: 'France,Germany',
  },
  'the key is deleted': {
    make: (postgres, { key }) => deleteKey(postgres, key.id),
    before: 'France,Germany',
    after: 'invalid_key',
  },
}

async function openWorldOfTwo(t: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(t, { now: noon })
  const second = await startApi(world.stores, { now: () => Date.parse(noon) })
  const owner = openPostgres(world.stores.addresses.postgres)
  t.after(async () => {
    await second.close()
    await owner.end({ timeout: 1 })
  })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'ann', country: 'DE' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'bob', country: 'FR' }),
  )
  const ask = () =>
    Promise.all([world.api, second].map(async (api) => seen(await api.fetch('/api/v1/stats/geo', as(world.key.text)))))
  return { world, owner, ask }
}

/** Milliseconds until both instances return `expected`. Fails after one second. */
async function untilBothSee(ask: () => Promise<string[]>, expected: string): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const asked = performance.now()
    const answers = await ask()
    if (answers.every((answer) => answer === expected)) return performance.now() - begun
    inTime(asked - begun < 1000, `after a second the instances still see ${answers}, not ${expected}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('a change to a key, plan or exclusion takes effect in every running instance within a second', async (t) => {
  const { world, owner, ask } = await openWorldOfTwo(t)
  for (const [step, { make, before, after }] of Object.entries(steps)) {
    assert.deepEqual(await ask(), [before, before], step)
    await make(owner, world)
    t.diagnostic(`${step}: ${Math.round(await untilBothSee(ask, after))} ms`)
  }
})

test('a change whose notification is lost is found by polling, still within a second', async (t) => {
  const { world, owner, ask } = await openWorldOfTwo(t)
  assert.deepEqual(await ask(), ['France,Germany', 'France,Germany'])
  await owner.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica` // disables triggers, so nothing is notified
    await transaction`UPDATE api_keys SET disabled = true WHERE id = ${world.key.id}`
    await transaction`UPDATE control_version SET version = version + 1`
  })
  t.diagnostic(`without a notification: ${Math.round(await untilBothSee(ask, 'key_disabled'))} ms`)
})

test('a change takes effect at once in the process that made it', async (t) => {
  const world = await openWorld(t)
  assert.equal((await world.get('/stats/overview')).status, 200)
  await world.changePlan('Free')
  assert.equal(codeOf(await world.get('/stats/overview')), 'plan_required')
  await world.changePlan('Starter')
  assert.equal((await world.get('/stats/overview')).status, 200)
})
