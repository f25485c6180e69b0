import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortLetter } from '../../src/mail/layout.ts'
import { subjectOf, visibleLine } from '../../src/mail/letter.ts'

const invitation = {
  subject: 'Join Acme',
  title: 'You are invited to Acme',
  paragraphs: ['Ann invites you to see the numbers of Acme.', 'The link works for three days.'],
  button: { name: 'Accept the invitation', href: 'https://stats.example/invitation?token=a&b=c' },
  footer: 'If you do not know Ann, ignore this mail.',
}

test('a short letter has the same sentences in both parts, and the address of its button in both', () => {
  const { subject, text, html } = shortLetter(invitation)
  assert.equal(subject, 'Join Acme')
  for (const sentence of [invitation.title, ...invitation.paragraphs, invitation.button.name, invitation.footer]) {
    assert.ok(text.includes(sentence), sentence)
    assert.ok(html.includes(sentence), sentence)
  }
  assert.match(text, /^https:\/\/stats\.example\/invitation\?token=a&b=c$/m)
  assert.match(html, /href="https:\/\/stats\.example\/invitation\?token=a&#38;b=c"/)
})

test('a letter without a button has no link at all', () => {
  const { button: _, ...told } = invitation
  const { text, html } = shortLetter(told)
  assert.doesNotMatch(html, /href|undefined/)
  assert.doesNotMatch(text, /http|undefined/)
})

test('a letter loads nothing: it has no images, fonts, scripts, frames or style sheets', () => {
  const { html } = shortLetter(invitation)
  assert.doesNotMatch(html, /<(img|script|link|iframe|object|svg|form)\b|\bsrc=|url\(|@import|@font-face/i)
})

test('names of strangers are inert in all three parts of a short letter', () => {
  const name = 'Acme\r\nBcc: victim@example.com\u0000\u202e<img src=x onerror=alert(1)>"\'&\u2028'
  const { subject, text, html } = shortLetter({
    ...invitation,
    subject: `Join ${name}`,
    title: `You are invited to ${name}`,
    paragraphs: [`See ${name}.`],
  })
  assert.equal(subject, 'Join Acme Bcc: victim@example.com <img src=x onerror=alert(1)>"\'&')
  assert.doesNotMatch(html, /<img|\u202e|\0|\u2028|\r/)
  assert.match(html, /Acme Bcc: victim@example\.com &#60;img src=x onerror=alert\(1\)&#62;&#34;&#39;&#38;/)
  assert.doesNotMatch(text, /\u202e|\0|\u2028|\r|^Bcc/m)
})

test('a subject is one line of at most 150 characters, whatever the name in it', () => {
  assert.equal(subjectOf('a\nb\rc\u0085d\u2029e\tf'), 'a b c d e f')
  assert.equal([...subjectOf('😀'.repeat(151))].length, 150)
  assert.equal(subjectOf('😀'.repeat(150)), '😀'.repeat(150))
  assert.equal(visibleLine('\ud800x', 10), '\ufffdx')
  assert.equal(visibleLine('/pricing', 5), '/pri…')
})
