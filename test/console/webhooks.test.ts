import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { inTransaction } from '../../src/stores/postgres.ts'
import { queueWebhooks } from '../../src/webhooks/deliveries.ts'
import { entriesOf, mainOf, openConsole } from './console.ts'

const url = 'http://127.0.0.1:9/hook?token=a-password'
const newNonce = (): string => randomBytes(16).toString('base64url')

async function openWebhooks(t: TestContext) {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const page = `/sites/${console.domain}/settings/webhooks`
  const owner = await console.signedIn('owner')
  return {
    console,
    page,
    owner,
    add: (address = url, nonce = newNonce()) => owner.post(page, page, { url: address, nonce }),
    stored: () => postgres<{ id: string; url: string; secret: Buffer; disabled: boolean }[]>`
      SELECT id, url, secret, disabled_at IS NOT NULL AS disabled FROM webhooks WHERE site_id = ${console.siteId} ORDER BY created_at`,
    deliveries: async () => {
      const rows = await postgres<
        { id: string; type: string; body: string; replay_of: string | null; state: string }[]
      >`
        SELECT webhook_deliveries.id, type, body, replay_of, state FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id
        WHERE site_id = ${console.siteId} ORDER BY webhook_deliveries.created_at`
      return [...rows]
    },
  }
}

test('a webhook is added with a secret that is shown once and stored encrypted; one form makes one', async (t) => {
  const { console, page, owner, add, stored } = await openWebhooks(t)
  assert.match((await owner.get(page)).text, /has no webhooks yet/)
  const nonce = newNonce()
  const added = await add(url, nonce)
  assert.equal(added.status, 200)
  assert.match(added.headers.get('cache-control') ?? '', /no-store/)
  const [, secret = ''] = /data-secret>(whsec_[^<]{44})</.exec(added.text) ?? []
  assert.notEqual(secret, '')
  const again = await add(url, nonce)
  assert.deepEqual([again.status, /whsec_/.test(again.text)], [409, false])
  const [webhook, second] = await stored()
  assert.deepEqual([webhook?.url, second], [url, undefined])
  assert.ok(
    !webhook?.secret.includes(Buffer.from(secret)) && !webhook?.secret.includes(Buffer.from(secret.slice(6), 'base64')),
  )
  for (const path of [page, `${page}/${webhook?.id}`]) assert.doesNotMatch((await owner.get(path)).text, /whsec_/)
  assert.deepEqual(await entriesOf(console, console.domain), [
    [owner.email, 'webhook.created', 'http://127.0.0.1:9', '127.0.0.0'],
  ])
})

test('an address inside or without https is refused, and what was typed comes again', async (t) => {
  const { add, stored } = await openWebhooks(t)
  for (const [wrong, reason] of [
    ['http://169.254.169.254/latest/meta-data/', /not public/],
    ['https://[::ffff:10.0.0.5]/', /not public/],
    ['https://2130706434/', /not public/],
    ['https://user:pass@127.0.0.1/', /no user, password/],
    ['ftp://127.0.0.1/', /not the address of a webhook/],
    ['', /not the address of a webhook/],
  ] as const) {
    const { status, text } = await add(wrong)
    assert.equal(status, 422, wrong)
    assert.match(text, reason)
    assert.ok(text.includes(`value="${wrong}"`))
  }
  assert.deepEqual([...(await stored())], [])
})

test('a site has at most ten webhooks', async (t) => {
  const { add, stored } = await openWebhooks(t)
  for (let index = 0; index < 10; index++) assert.equal((await add(`http://127.0.0.1:9/${index}`)).status, 200)
  const eleventh = await add()
  assert.deepEqual([eleventh.status, (await stored()).length], [422, 10])
  assert.match(eleventh.text, /at most 10 webhooks/)
})

test('a test and a replay are queued once for each form, and the log shows them', async (t) => {
  const { console, page, owner, add, stored, deliveries } = await openWebhooks(t)
  const { postgres } = console.stores
  await add()
  const one = `${page}/${(await stored())[0]?.id}`
  const nonce = newNonce()
  const sent = await owner.post(one, `${one}/test`, { nonce })
  assert.deepEqual([sent.status, sent.headers.get('location')], [303, `${one}?done=test`])
  await owner.post(one, `${one}/test`, { nonce })
  const [delivery, ...none] = await deliveries()
  assert.deepEqual([delivery?.type, none], ['webhook.test', []])
  const { type, data } = JSON.parse(delivery?.body ?? '')
  assert.deepEqual({ type, data }, { type: 'webhook.test', data: { site: console.domain } })

  const replay = { nonce: newNonce(), delivery: delivery?.id as string }
  assert.equal((await owner.post(one, `${one}/replay`, replay)).status, 422, 'it still waits')
  assert.doesNotMatch(mainOf(await owner.get(one)), />Replay<span/)
  await postgres`
    UPDATE webhook_deliveries SET state = 'in doubt', attempts = 3, http_status = 502, duration_ms = 1234, problem = 'silence'
    WHERE id = ${replay.delivery}`
  const log = mainOf(await owner.get(one))
  assert.match(log, /in doubt.*502, 1,234 ms, 3 attempts.*silence.*Replay/s)
  for (let times = 0; times < 2; times++)
    assert.equal((await owner.post(one, `${one}/replay`, replay)).headers.get('location'), `${one}?done=replayed`)
  const [, second, ...more] = await deliveries()
  assert.deepEqual(
    [second?.replay_of, second?.body, second?.state, more],
    [delivery?.id, delivery?.body, 'waiting', []],
  )
  const actions = (await entriesOf(console, console.domain)).map(([, action]) => action)
  assert.deepEqual(actions, ['webhook.created', 'webhook.replayed'])
})

test('the log has pages of fifty', async (t) => {
  const { console, page, owner, add, stored } = await openWebhooks(t)
  await add()
  const one = `${page}/${(await stored())[0]?.id}`
  for (let index = 0; index < 53; index++) {
    const message = { siteId: console.siteId, type: 'alert.began', data: { number: 1000 + index } }
    await inTransaction(console.stores.postgres, (transaction) => queueWebhooks(transaction, message))
  }
  const numbers = (text: string) =>
    Array.from(text.matchAll(/number(?:"|&[#\w]+;):(\d+)/g), ([, number]) => Number(number))
  const first = await owner.get(one)
  assert.deepEqual(
    numbers(first.text),
    Array.from({ length: 50 }, (_, index) => 1052 - index),
  )
  const [, older = ''] = /href="([^"]*\?before=[^"]*)"/.exec(first.text) ?? []
  const second = await owner.get(older)
  assert.deepEqual(numbers(second.text), [1002, 1001, 1000])
  assert.doesNotMatch(second.text, />Older</)
})

test('a new secret replaces the old one, once for each form', async (t) => {
  const { console, page, owner, add, stored } = await openWebhooks(t)
  await add()
  const [before] = await stored()
  const one = `${page}/${before?.id}`
  const rotated = await owner.post(one, `${one}/rotate`, { version: '1' })
  assert.equal(rotated.status, 200)
  assert.match(rotated.text, /data-secret>whsec_/)
  const [after] = await stored()
  assert.notDeepEqual(after?.secret, before?.secret)
  const again = await owner.post(one, `${one}/rotate`, { version: '1' })
  assert.deepEqual([again.status, /whsec_/.test(again.text)], [409, false])
  assert.deepEqual((await stored())[0]?.secret, after?.secret)
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action]) => action),
    ['webhook.created', 'webhook.rotated'],
  )
})

test('a webhook is disabled, enabled and deleted with its log', async (t) => {
  const { console, page, owner, add, stored, deliveries } = await openWebhooks(t)
  await add()
  const one = `${page}/${(await stored())[0]?.id}`
  for (const [disabled, result] of [
    ['yes', 'disabled'],
    ['yes', 'disabled'],
    ['no', 'enabled'],
  ] as const) {
    const switched = await owner.post(one, `${one}/state`, { disabled })
    assert.equal(switched.headers.get('location'), `${one}?done=${result}`)
    assert.equal((await stored())[0]?.disabled, disabled === 'yes')
    if (disabled === 'yes') assert.equal((await owner.post(one, `${one}/test`, { nonce: newNonce() })).status, 422)
  }
  await owner.post(one, `${one}/test`, { nonce: newNonce() })
  assert.equal((await owner.post(one, `${one}/delete`, {})).status, 422)
  assert.equal(
    (await owner.post(one, `${one}/delete`, { confirm: 'yes' })).headers.get('location'),
    `${page}?done=deleted`,
  )
  assert.deepEqual([(await stored()).length, (await deliveries()).length, (await owner.get(one)).status], [0, 0, 404])
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action]) => action),
    ['webhook.created', 'webhook.disabled', 'webhook.enabled', 'webhook.deleted'],
  )
})

test('a viewer sees the host of a webhook, not its address and messages; a foreign id is unknown', async (t) => {
  const { console, page, owner, add, stored } = await openWebhooks(t)
  await add()
  const id = (await stored())[0]?.id
  const viewer = await console.signedIn('viewer')
  const list = mainOf(await viewer.get(page))
  assert.match(list, /http:\/\/127\.0\.0\.1:9</)
  assert.doesNotMatch(list, /a-password|\/hook|Add a webhook|Manage/)
  assert.equal((await viewer.get(`${page}/${id}`)).status, 403)
  const other = await console.addAccount()
  const stranger = await console.signedIn('owner', other.accountId)
  assert.equal((await stranger.get(`${page}/${id}`)).status, 404)
  assert.equal((await stranger.get(`/sites/${other.domain}/settings/webhooks/${id}`)).status, 404)
  const [delivery] = await inTransaction(console.stores.postgres, (transaction) =>
    queueWebhooks(transaction, { siteId: console.siteId, type: 'alert.began', data: {} }),
  )
  await console.stores.postgres`UPDATE webhook_deliveries SET state = 'delivered' WHERE id = ${delivery as string}`
  const second = await add('http://127.0.0.1:9/second')
  assert.equal(second.status, 200)
  const another = `${page}/${(await stored())[1]?.id}`
  const foreign = await owner.post(another, `${another}/replay`, { delivery: delivery as string, nonce: newNonce() })
  assert.equal(foreign.status, 422, 'a message of another webhook')
})
