import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchedAlert } from '../../src/alerts/alerts.ts'
import { alertLetter, type Told } from '../../src/alerts/letters.ts'

const told = (condition: WatchedAlert['condition'], more: Partial<Told>): Told => ({
  alert: { condition, domain: 'example.com', zone: 'America/New_York', mailTo: 'members' } as WatchedAlert,
  change: 'began',
  at: new Date('2026-11-16T03:02:00Z'),
  beganAt: new Date('2026-11-16T03:02:00Z'),
  numbers: {},
  ...more,
})
const letterOf = (...given: Parameters<typeof told>) => alertLetter('https://stats.example', told(...given))

test('hours and days are those of the site, in the text and in the link', () => {
  const { subject, text, html } = letterOf(
    { kind: 'drop', threshold: 30, minUsual: 50 },
    { numbers: { hour: Date.parse('2026-11-16T02:00:00Z'), visitors: 12, usual: 1_240 } },
  )
  assert.equal(subject, 'example.com: only 12 visitors in an hour, usually 1,240')
  for (const part of [text, html]) {
    assert.match(part, /From 21:00 to 22:00, example.com had 12 visitors\./)
    assert.match(part, /the same hour usually had 1,240\./)
    assert.match(part, /It began at 22:02 on 15 Nov \(America\/New_York\)\./)
    assert.match(part, /range=custom(&|&#38;)start=2026-11-15(&|&#38;)end=2026-11-15/)
    assert.match(part, /https:\/\/stats\.example\/sites\/example\.com\/settings\/alerts/)
    assert.match(part, /you are a member of the account of example\.com/)
  }
})

test('the name of an event comes from strangers: it becomes one line of escaped text', () => {
  const event = `<img src=x onerror=alert(1)>\r\nBcc: all@example.com\u202e${'e'.repeat(60)}`
  const condition = { kind: 'missing', threshold: 24, minUsual: 10, event } as const
  for (const change of ['began', 'over'] as const) {
    const { subject, text, html } = letterOf(condition, { change, numbers: { since: 0, usual: 12 } })
    assert.doesNotMatch(subject, /[\r\n\u202e]/)
    assert.doesNotMatch(html, /<img|\u202e/)
    assert.doesNotMatch(text, /^Bcc|\u202e/m)
  }
})
