// `footfall serve` behind the proxies of deploy/: TLS, PUBLIC_URL, and the address of the client, which nobody can make up.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { browserAgent } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { askProxy, openStream, type ProxyName, proxyMissing, startProxy, type TlsProxy } from '../support/proxies.ts'
import { launchServe, type ServeProcess } from '../support/serve-process.ts'

let installation: Installation
before(async () => {
  installation = await install()
  await installation.json('site', 'create', 'behind.example')
})
after(() => installation.remove())

const pageview = JSON.stringify({ n: 'pageview', u: 'https://behind.example/', d: 'behind.example' })
const perSecond = 1
/** What the collector accepts at once from one address. */
const burst = 20 * perSecond

const send = async (proxy: TlsProxy, from: string, forged: string): Promise<number> => {
  const headers = { 'User-Agent': browserAgent, 'X-Forwarded-For': forged }
  return (await askProxy(proxy, '/api/event', { method: 'POST', body: pageview, headers, from })).status
}

/** What `footfall doctor` says about the proxy. */
async function finding({ environment }: ServeProcess, { authority }: TlsProxy, change: Record<string, string> = {}) {
  const settings = { ...environment, NODE_EXTRA_CA_CERTS: authority, ...change }
  const { stdout } = await runFootfall(['doctor', '--json'], settings)
  return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'Proxy')
}

for (const name of ['nginx', 'Caddy'] as const satisfies ProxyName[])
  test(`behind ${name}`, { skip: proxyMissing(name) }, async (t) => {
    const [port, to] = [await freePort(), await freePort()]
    const server = await launchServe(installation.addresses, {
      PORT: `${to}`,
      PUBLIC_URL: `https://localhost:${port}`,
      EVENTS_PER_SECOND_PER_ADDRESS: `${perSecond}`,
    })
    t.after(() => server.stop())
    await server.untilReady()
    let proxy = await startProxy(name, { port, to })
    t.after(() => proxy.stop())

    const page = await askProxy(proxy, '/login')
    assert.equal(page.status, 200)
    assert.equal(page.headers['strict-transport-security'], 'max-age=31536000')
    assert.match(String(page.headers['set-cookie']), /__Host-.*Secure/)
    assert.equal(page.headers['footfall-forwarded-for'], undefined, 'only doctor is told')

    const found = await finding(server, proxy)
    assert.deepEqual(
      [found.state, found.found],
      ['ok', `${proxy.url} answers, and a made-up X-Forwarded-For is not believed`],
    )

    // Each address has its own limit, whatever it writes into the header.
    const [one, other] = ['127.0.0.2', '127.0.0.3']
    // At once: one after the other, a busy machine takes so long that the limit is never reached.
    const answers = await Promise.all(
      Array.from({ length: 3 * burst }, (_, index) => send(proxy, one, `198.51.100.${index}`)),
    )
    assert.deepEqual([...new Set(answers)].sort(), [202, 429])
    assert.equal(await send(proxy, other, one), 202, 'another client is not the one that sent too much')

    // What a stream sends comes through at once, compressed by the proxy or not.
    const { key } = await installation.json('key', 'create', 'behind.example')
    for (const encoding of ['identity', 'gzip']) {
      const headers = { Authorization: `Bearer ${key}`, 'Accept-Encoding': encoding }
      const stream = openStream(proxy, '/api/v2/live', headers)
      t.after(stream.close)
      const path = `/${name}-${encoding}`
      await eventually(async () => assert.match(stream.text(), /^data: \{"data":/m))
      const body = JSON.stringify({ n: 'pageview', u: `https://behind.example${path}`, d: 'behind.example' })
      const hit = { method: 'POST', body, headers: { 'User-Agent': browserAgent }, from: '127.0.0.4' }
      assert.equal((await askProxy(proxy, '/api/event', hit)).status, 202)
      await eventually(async () => assert.ok(stream.text().includes(`"page":"${path}"`)), 10_000)
      stream.close()
    }

    if (name === 'nginx') {
      await proxy.stop()
      // As nginx forwards requests by itself.
      const change = (file: string) => file.replace(/^.*X-Forwarded-For \$.*\n/m, '')
      proxy = await startProxy(name, { port, to, change })
      const { state, found, advice } = await finding(server, proxy)
      assert.equal(state, 'warning')
      assert.match(found, /passes on the X-Forwarded-For that a client made up/)
      assert.match(advice, /deploy\/nginx\/footfall\.conf/)
    } else {
      const { state, found } = await finding(server, proxy, { KEY_SECRETS: `1:${'another secret '.repeat(3)}` })
      assert.equal(state, 'warning', 'another installation gets no answer')
      assert.match(found, /answers with HTTP 200, and not as the console of this Footfall/)
    }
  })

test('the documentation gets the certificate of nginx before nginx reads the file that names it', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const site = readFileSync(new URL('../../deploy/nginx/footfall.conf', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/^ *sudo (certbot|cp deploy\/nginx).*$/gm)].map(([, command]) => command)
  assert.deepEqual(commands, ['certbot', 'cp deploy/nginx'])
  const [, root = ''] = /--webroot-path (\S+)/.exec(page) ?? []
  assert.match(site, new RegExp(`acme-challenge/ \\{\\s+root ${root};`), 'later it renews the certificate the same way')
})

test('doctor warns when nothing answers at PUBLIC_URL', async () => {
  const PUBLIC_URL = `https://localhost:${await freePort()}`
  const nothing = { ...installation.environment, PUBLIC_URL }
  const { code, stdout } = await runFootfall(['doctor', '--json'], nothing)
  const { state, found } = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'Proxy')
  assert.deepEqual([code, state], [0, 'warning'])
  assert.ok(found.startsWith(`${PUBLIC_URL} does not answer (connect ECONNREFUSED`), found)
})
