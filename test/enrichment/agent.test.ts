import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf } from '../../src/enrichment/agent.ts'
import { inTime } from '../support/in-time.ts'

const blink = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0'
const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

const families: [browser: string, os: string, agent: string][] = [
  ['Chrome', 'Linux', `Mozilla/5.0 (X11; Linux x86_64) ${blink} Safari/537.36`],
  ['Chrome', 'Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Safari/537.36`],
  ['Microsoft Edge', 'Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Safari/537.36 Edg/141.0.0.0`],
  ['Opera', 'macOS', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${blink} Safari/537.36 OPR/120.0.0.0`],
  ['Safari', 'macOS', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.1 Safari/605.1.15`],
  [
    'Safari',
    'iOS',
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webkit} Version/18.1 Mobile/15E148 Safari/604.1`,
  ],
  [
    'Chrome',
    'iOS',
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webkit} CriOS/141.0 Mobile/15E148 Safari/604.1`,
  ],
  ['Firefox', 'Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Firefox', 'Android', 'Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0'],
  [
    'Samsung Internet for Android',
    'Android',
    `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  ],
  ['Chrome', 'Chrome OS', `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${blink} Safari/537.36`],
]

test('browsers and systems are families without versions', () => {
  for (const [browser, os, agent] of families) assert.deepEqual(agentOf(agent), { isBot: false, browser, os }, agent)
})

test('nothing of an unknown user agent is recorded', () => {
  for (const agent of ['JaneDoe/1.0 (Custom 7)', 'Mozilla/5.0 (Something 4.2) JaneDoe/1.0'])
    assert.deepEqual(agentOf(agent), { isBot: false, browser: 'Unknown', os: 'Unknown' }, agent)
})

test('a user agent as long as a header may be, built to be slow, is read within milliseconds', () => {
  const [, , usual] = families[0] as [string, string, string]
  agentOf(usual) // compiles the patterns
  const slow = [
    'Android '.repeat(1_000),
    'a'.repeat(8_000),
    `${' '.repeat(8_000)}x`,
    '(Mobi/'.repeat(1_300),
    'Version/'.repeat(1_000),
    'x/1 '.repeat(2_000),
  ]
  for (const agent of slow) {
    const times = Array.from({ length: 5 }, (_, time) => {
      const start = performance.now()
      agentOf(`${agent}${time}`)
      return performance.now() - start
    })
    inTime(Math.min(...times) < 20, `${agent.slice(0, 9)} took ${times} ms`)
  }
})
