// Addresses that a webhook must not reach: each is refused before any connection is made. Nothing here connects anywhere.
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { networksOf } from '../../src/process/networks.ts'
import { post } from '../../src/webhooks/post.ts'
import { findTarget, type TargetRules } from '../../src/webhooks/target.ts'

const message = { messageId: 'whd_a', body: '{}', secret: 'whsec_c2VjcmV0' }
const limits = { connectMs: 2_000, answerMs: 2_000 }

const rulesWith = (names: Record<string, readonly string[]>, allowed: readonly string[] = []): TargetRules => ({
  resolve: async (hostname) => [...(names[hostname] ?? [])],
  isAllowed: networksOf(allowed),
})

let sockets = 0
channel('net.client.socket').subscribe(() => sockets++)

/** The reason why it was refused. */
async function refusalOf(url: string, rules: TargetRules): Promise<string> {
  const before = sockets
  let isHandedOver = false
  const handOver = async () => {
    isHandedOver = true
    return false
  }
  const result = await post({ ...message, url }, rules, limits, handOver, new AbortController().signal)
  assert.deepEqual([sockets - before, isHandedOver], [0, false], 'a connection was made')
  assert.equal(result.result, 'not sent')
  return 'problem' in result ? result.problem : ''
}

const inner = /no address, or one that is not public/

const addresses = {
  loopback: '127.0.0.1',
  'another loopback address': '127.8.9.10',
  'this host': '0.0.0.0',
  'the network of this host': '0.1.2.3',
  'a private network of class A': '10.0.0.5',
  'a private network of class B': '172.31.255.254',
  'a private network of class C': '192.168.1.1',
  'the NAT of a provider': '100.64.0.1',
  'metadata of Alibaba': '100.100.100.200',
  'metadata of most clouds': '169.254.169.254',
  'metadata of AWS containers': '169.254.170.2',
  'metadata of Azure': '168.63.129.16',
  'metadata of Oracle': '192.0.0.192',
  'documentation 1': '192.0.2.7',
  'documentation 2': '198.51.100.7',
  'documentation 3': '203.0.113.7',
  'a relay of 6to4': '192.88.99.1',
  benchmarks: '198.19.0.1',
  multicast: '224.0.0.251',
  reserved: '240.0.0.1',
  broadcast: '255.255.255.255',
  'IPv6 loopback': '::1',
  'IPv6 unspecified': '::',
  'mapped loopback': '::ffff:127.0.0.1',
  'mapped private address': '::ffff:a00:5',
  'IPv4 in IPv6 of old': '::127.0.0.1',
  'translated IPv4': '::ffff:0:127.0.0.1',
  'NAT64 of a private address': '64:ff9b::a00:5',
  'local NAT64': '64:ff9b:1::a00:5',
  '6to4 of loopback': '2002:7f00:1::',
  Teredo: '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  ORCHID: '2001:20::1',
  'IPv6 documentation': '2001:db8::1',
  'IPv6 documentation of 2024': '3fff::1',
  'link-local': 'fe80::1',
  'site-local of old': 'fec0::1',
  'unique local': 'fd12:3456::1',
  'metadata of AWS over IPv6': 'fd00:ec2::254',
  'IPv6 multicast': 'ff02::1',
  'segment routing': '5f00::1',
  discard: '100::1',
} as const

for (const [what, address] of Object.entries(addresses)) {
  const inUrl = address.includes(':') ? `[${address}]` : address
  test(`${what} is refused as an address: ${address}`, async () => {
    assert.match(await refusalOf(`https://${inUrl}/hook`, rulesWith({})), inner)
  })
  test(`${what} is refused behind a name: ${address}`, async () => {
    assert.match(await refusalOf('https://hooks.example/hook', rulesWith({ 'hooks.example': [address] })), inner)
  })
}

const tricks = {
  'a decimal number': 'https://2130706433/',
  'an octal number': 'https://017700000001/',
  'a hexadecimal number': 'https://0x7f000001/',
  'octal parts': 'https://0177.0.0.01/',
  'hexadecimal parts': 'https://0x7f.0.0.0x1/',
  'two parts': 'https://127.1/',
  'three parts': 'https://127.0.1/',
  'zero as one digit': 'https://0/',
  'a dot at the end of an address': 'https://127.0.0.1./',
  'digits in circles': 'https://①②⑦.⓪.⓪.①/',
  'full-width digits': 'https://１２７.０.０.１/',
  'ideographic full stops': 'https://127。0。0。1/',
  'encoded digits': 'https://%31%32%37.0.0.1/',
  'mapped IPv4 with hexadecimal parts': 'https://[::ffff:7f00:1]/',
  'IPv6 in full': 'https://[0000:0000:0000:0000:0000:0000:0000:0001]/',
  'IPv6 in capitals': 'https://[FD00:EC2::254]/',
  'the name of this host': 'https://localhost/',
  'the name of this host with a dot': 'https://localhost./',
  'the name of this host in capitals': 'https://LOCALHOST/',
  'a name below localhost': 'https://app.localhost/',
  'the name of a metadata service': 'https://metadata.google.internal/computeMetadata/v1/',
  'a name with a soft hyphen': 'https://local\u00adhost/',
  'letters in circles': 'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
  'a backslash before the host': 'https:\\\\127.0.0.1\\hook',
  'a backslash that ends the host': 'https://127.0.0.1\\@hooks.example/',
  'a question mark that ends the host': 'https://127.0.0.1?@hooks.example/',
  'a tab in the address': 'https://127.0.\t0.1/',
  'many slashes': 'https:////127.0.0.1/',
  'no slashes': 'https:127.0.0.1/',
  'a name that nobody has': 'https://nobody.example/',
} as const

const namesOfThisHost = {
  localhost: ['127.0.0.1', '::1'],
  'app.localhost': ['127.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
}

for (const [what, url] of Object.entries(tricks)) {
  test(`a trick is refused: ${what}`, async () => {
    assert.match(await refusalOf(url, rulesWith(namesOfThisHost)), inner)
  })
}

const nonsense = {
  'a user': ['https://hooks.example@127.0.0.1/', /no user, password/],
  'a user and a password': ['https://admin:secret@hooks.example/', /no user, password/],
  'a fragment': ['https://127.0.0.1/#@hooks.example', /no user, password or fragment/],
  'an IPv6 zone': ['https://[fe80::1%25eth0]/', /not the address of a webhook/],
  'nine digits in a part': ['https://127.0.0.999999999/', /not the address of a webhook/],
  'a file': ['file:///etc/passwd', /not the address of a webhook/],
  gopher: ['gopher://127.0.0.1:6379/_FLUSHALL', /not the address of a webhook/],
  'data in the address': ['data:text/plain,hello', /not the address of a webhook/],
  'no scheme': ['hooks.example/hook', /not the address of a webhook/],
  http: ['http://hooks.example/hook', /https, on port 443 or 8443/],
  'the port of Redis': ['https://hooks.example:6379/hook', /https, on port 443 or 8443/],
  'the port of http': ['https://hooks.example:80/hook', /https, on port 443 or 8443/],
  'a long address': [`https://hooks.example/${'a'.repeat(2_000)}`, /longer than 2000/],
} as const

for (const [what, [url, reason]] of Object.entries(nonsense)) {
  test(`no webhook: ${what}`, async () => {
    assert.match(await refusalOf(url, rulesWith({ 'hooks.example': ['93.184.215.14'] })), reason)
  })
}

const publicAddress = '93.184.215.14'

test('one inner address among public ones is enough to refuse a name', async () => {
  for (const mixed of [
    [publicAddress, '10.0.0.5'],
    ['10.0.0.5', publicAddress],
    [publicAddress, '::ffff:169.254.169.254'],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::1'],
  ])
    assert.match(await refusalOf('https://hooks.example/', rulesWith({ 'hooks.example': mixed })), inner)
})

test('a name that does not exist and one that leads inside are refused in the same words', async () => {
  const rules = rulesWith({ 'db.internal': ['10.0.0.5'] })
  const [exists, missing] = [
    await refusalOf('https://db.internal/', rules),
    await refusalOf('https://no.internal/', rules),
  ]
  assert.equal(exists.replace('db.internal', ''), missing.replace('no.internal', ''))
})

test('a name server that fails is told from a name that nobody has', async () => {
  const resolve = async () => {
    throw Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' })
  }
  assert.match(
    await refusalOf('https://hooks.example/', { ...rulesWith({}), resolve }),
    /cannot be looked up now \(ESERVFAIL\)/,
  )
})

const target = async (url: string, rules: TargetRules) => {
  const { host, port, addresses } = await findTarget(url, rules, AbortSignal.timeout(1_000))
  return [host, port, addresses]
}

test('public addresses are allowed', async () => {
  const both = [publicAddress, '2606:2800:21f:cb07:6820:80da:af6b:8b2c']
  const rules = rulesWith({ 'hooks.example': both, 'xn--bcher-kva.example': [publicAddress] })
  assert.deepEqual(await target('https://hooks.example/hook?a=b', rules), ['hooks.example', 443, both])
  assert.deepEqual(await target('https://hooks.example.:8443/', rules), ['hooks.example', 8443, both])
  assert.deepEqual(await target('https://bücher.example/', rules), ['xn--bcher-kva.example', 443, [publicAddress]])
  assert.deepEqual(await target(`https://${publicAddress}/`, rules), [publicAddress, 443, [publicAddress]])
  assert.deepEqual(await target(`https://[${both[1]}]/`, rules), [both[1], 443, [both[1]]])
  for (const edge of [
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '223.255.255.255',
  ])
    assert.deepEqual(await target(`https://${edge}/`, rules), [edge, 443, [edge]])
})

test('the operator allows networks: also with http and any port, and nothing beside them', async () => {
  const names = {
    'n8n.internal': ['10.1.2.3'],
    'both.internal': ['10.1.2.3', '10.2.0.1'],
    'mixed.example': ['10.1.2.3', publicAddress],
  }
  const rules = rulesWith(names, ['10.1.0.0/16', 'fd00::/8'])
  assert.deepEqual(await target('http://n8n.internal:5678/', rules), ['n8n.internal', 5678, ['10.1.2.3']])
  assert.deepEqual(await target('https://n8n.internal/', rules), ['n8n.internal', 443, ['10.1.2.3']])
  assert.deepEqual(await target('http://[fd00::1]/', rules), ['fd00::1', 80, ['fd00::1']])
  assert.deepEqual(await target('http://[::ffff:10.1.0.1]/', rules), ['::ffff:a01:1', 80, ['::ffff:a01:1']])
  assert.match(await refusalOf('http://both.internal/', rules), inner)
  assert.match(await refusalOf('https://127.0.0.1/', rules), inner)
  assert.match(await refusalOf('http://mixed.example/', rules), /https, on port/)
})
