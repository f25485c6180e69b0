import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientAddress } from '../../src/process/client-address.ts'
import { networksOf } from '../../src/process/networks.ts'

const addressOf = createClientAddress(networksOf(['127.0.0.1', '::1', '10.0.0.0/8', '2001:db8:1::/48']))

const cases: [what: string, socket: string, forwardedFor: string | undefined, expected: string][] = [
  ['no proxy', '192.0.2.7', undefined, '192.0.2.7'],
  ['an untrusted client that sends the header', '192.0.2.7', '198.51.100.1', '192.0.2.7'],
  ['a trusted proxy', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['a proxy without the header', '127.0.0.1', undefined, '127.0.0.1'],
  ['a header that the visitor started', '127.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
  ['a trusted server behind a trusted proxy', '127.0.0.1', '203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['only trusted addresses', '127.0.0.1', '10.1.1.1, 10.1.2.3', '10.1.1.1'],
  ['a mapped socket', '::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['a mapped visitor', '::1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['a mapped visitor in hexadecimal', '::1', '0:0:0:0:0:FFFF:C633:6401', '198.51.100.1'],
  ['an address that only looks mapped', '::1', '::ffff:0:198.51.100.1', '::ffff:0:198.51.100.1'],
  ['IPv6', '2001:db8:1::5', '2001:DB8:2::1', '2001:db8:2::1'],
  ['with port', '127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  ['IPv6 with port', '127.0.0.1', '[2001:db8:2::1]:4711', '2001:db8:2::1'],
  ['rubbish', '127.0.0.1', 'unknown', '127.0.0.1'],
  ['invalid text before an address', '127.0.0.1', 'unknown, 198.51.100.1', '198.51.100.1'],
  ['invalid text after an address', '127.0.0.1', '198.51.100.1, unknown', '127.0.0.1'],
]

for (const [what, socket, forwardedFor, expected] of cases) {
  test(`the client address with ${what}`, () => assert.equal(addressOf(socket, forwardedFor), expected))
}
