import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathText, shareText } from '../../src/display/formats.ts'

test('a path is shown as people write it, unless that would hide something', () => {
  for (const [path, text] of [
    ['/caf%C3%A9/%E2%82%AC', '/café/€'],
    ['/a%2Fb%3Fc', '/a%2Fb%3Fc'], // another path than /a/b?c
    ['/%FF%20', '/%FF%20'],
    ['/a%20b', '/a%20b'],
    ['/%E2%80%AEtxt.exe', '/%E2%80%AEtxt.exe'], // turns the text around
    ['/100%', '/100%'],
  ] as const)
    assert.equal(pathText(path), text)
})

test('a share of something is never nothing', () => {
  const shares = [
    shareText(0, 0),
    shareText(0, 7),
    shareText(1, 101),
    shareText(1, 100),
    shareText(5, 8),
    shareText(7, 7),
  ]
  assert.deepEqual(shares, ['0%', '0%', '<1%', '1%', '63%', '100%'])
})
