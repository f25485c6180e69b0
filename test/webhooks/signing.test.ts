// Signatures: what the reference implementation and the receiver of docs/webhooks.md think of them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { newSecret, signedHeaders } from '../../src/webhooks/signing.ts'
import { read } from '../house/tree.ts'
import { eventually } from '../support/eventually.ts'
import { inherited } from '../support/inherited.ts'

const body = '{"type":"alert.began","timestamp":"2026-11-19T08:00:00.000Z","data":{"site":"bücher.example"}}'

test('a secret has 256 random bits in base64, as the scheme wants them', () => {
  const secret = newSecret()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.notEqual(secret, newSecret())
})

test('the example of the scheme has the signature that its libraries make', () => {
  // From the tests of its libraries.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const headers = signedHeaders(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', 1_614_265_330_000)
  assert.deepEqual(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('the message in docs/webhooks.md is signed with the secret that stands there', () => {
  const document = read('docs/webhooks.md')
  const [, head = '', sent = ''] = /```http\n(.*?)\n\n(.*?)\n```/s.exec(document) ?? []
  const headers = Object.fromEntries(
    Array.from(head.matchAll(/^(webhook-\w+): (.*)$/gm), ([, name, value]) => [name, value]),
  )
  const [secret = ''] = /whsec_[\w+/=]{32,}/.exec(document) ?? []
  const at = Number(headers['webhook-timestamp']) * 1000
  assert.deepEqual(signedHeaders(secret, headers['webhook-id'] as string, sent, at), headers)
})

/** What must be refused, beside a message with another secret. */
function forgeries(secret: string): Record<string, [body: string, headers: Record<string, string>]> {
  const now = Date.now()
  const good = signedHeaders(secret, 'whd_a', body, now)
  const { 'webhook-signature': signature = '' } = good
  return {
    'another secret': [body, signedHeaders(newSecret(), 'whd_a', body, now)],
    'another body': [body.replace('began', 'ended'), good],
    'another id': [body, { ...good, 'webhook-id': 'whd_b' }],
    'a later time': [body, { ...good, 'webhook-timestamp': String(Math.floor(now / 1000) + 1) }],
    'an old message': [body, signedHeaders(secret, 'whd_a', body, now - 6 * 60_000)],
    'a message of the future': [body, signedHeaders(secret, 'whd_a', body, now + 6 * 60_000)],
    'no time': [body, { ...good, 'webhook-timestamp': '' }],
    'no number as time': [body, { ...good, 'webhook-timestamp': 'now' }],
    'an empty signature': [body, { ...good, 'webhook-signature': '' }],
    'only the version': [body, { ...good, 'webhook-signature': 'v1,' }],
    'half a signature': [body, { ...good, 'webhook-signature': signature.slice(0, 20) }],
    'another letter': [
      body,
      { ...good, 'webhook-signature': signature.replace(/.(?==$)/, (last) => (last === 'A' ? 'B' : 'A')) },
    ],
  }
}

test('the reference implementation takes our messages and refuses forged ones', () => {
  const secret = newSecret()
  const webhook = new Webhook(secret)
  assert.deepEqual(webhook.verify(body, signedHeaders(secret, 'whd_a', body, Date.now())), JSON.parse(body))
  for (const [what, [text, headers]] of Object.entries(forgeries(secret)))
    assert.throws(() => webhook.verify(text, headers), Error, what)
})

test('the receiver of docs/webhooks.md takes our messages and refuses forged ones', async (t) => {
  const source = /```js receiver\n(.*?)```/s.exec(read('docs/webhooks.md'))?.[1] ?? ''
  assert.ok(source.split('\n').length <= 30)
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'receiver.mjs'), source)
  const port = await freePort()
  const secret = newSecret()
  const child = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
    env: { ...inherited, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  const send = (text: string, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}/webhook`, { method: 'POST', body: text, headers }).then(({ status }) => status)
  const good = signedHeaders(secret, 'whd_a', body, Date.now())
  assert.equal(await eventually(() => send(body, good)), 204)
  const both = { ...good, 'webhook-signature': `v1,${'A'.repeat(43)}= ${good['webhook-signature']}` }
  assert.equal(await send(body, both), 204, 'one of several signatures is enough')
  for (const [what, [text, headers]] of Object.entries(forgeries(secret)))
    assert.equal(await send(text, headers), 401, what)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
