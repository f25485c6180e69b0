import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSource } from '../../src/enrichment/source.ts'

const at = (query: string, referrer = '') =>
  readSource(new URL(`https://site.example/${query}`), referrer, { hostnames: ['own.example'], allowSubdomains: false })

test('the referrer is a lower-case host without www. and port', () => {
  const hosts: [string, string][] = [
    ['https://www.News.Example:8443/a?b#c', 'news.example'],
    ['http://news.example./', 'news.example'],
    ['https://wwwx.example/', 'wwwx.example'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
    ['https://user:password@news.example/', 'news.example'],
    ['android-app://com.Google.android.gm/', 'com.google.android.gm'],
    ['http://[2001:db8::1]:80/', '[2001:db8::1]'],
    ['news.example', ''],
    ['https://', ''],
    ['ftp://news.example/', ''],
    ['android-app://a%00b/', ''],
    ['', ''],
  ]
  for (const [referrer, host] of hosts) assert.equal(at('', referrer).referrer, host, referrer)
})

test('the site and the page itself are no referrer, with or without www.', () => {
  for (const own of [
    'https://own.example/',
    'https://www.own.example/x',
    'https://site.example/',
    'http://WWW.site.example',
  ]) {
    assert.equal(at('', own).referrer, '', own)
  }
  assert.equal(at('', 'https://blog.own.example/').referrer, 'blog.own.example')
  const listed = (referrer: string, allowSubdomains: boolean) =>
    readSource(new URL('https://site.example/'), referrer, { hostnames: ['www.own.example'], allowSubdomains }).referrer
  assert.equal(listed('https://own.example/', false), '')
  assert.equal(listed('https://shop.own.example/', false), 'shop.own.example')
  assert.equal(listed('https://shop.own.example/', true), '')
  assert.equal(listed('https://notown.example/', true), 'notown.example')
})

test('utm_source is kept as written; ref and then source replace a missing one', () => {
  assert.equal(at('?utm_source=NewsLetter%20%C3%84').utmSource, 'NewsLetter Ä')
  assert.equal(at('?source=c&ref=b&utm_source=a').utmSource, 'a')
  assert.equal(at('?source=c&ref=b&utm_source=').utmSource, 'b')
  assert.equal(at('?source=c').utmSource, 'c')
  assert.equal(at('?utm_source=&utm_source=second').utmSource, 'second')
  assert.equal(at('?utm_source=%20').utmSource, '')
})

test('medium and campaign come only from their own parameters', () => {
  const { utmSource, campaign } = at(
    '?utm_medium=cpc&utm_campaign=Spring&medium=x&campaign=y&utm_term=a+b&utm_content=%20',
  )
  assert.equal(utmSource, '')
  assert.deepEqual(campaign, { medium: 'cpc', campaign: 'Spring', content: '', term: 'a b' })
  assert.equal(at('?utm_source=x&utm_content=').campaign, undefined)
})

test('control characters are removed and 255 characters are kept, never half of one', () => {
  assert.equal(at('?utm_source=a%00b%0Ac%7Fd%C2%85e').utmSource, 'abcde')
  assert.equal(at(`?utm_source=${'x'.repeat(300)}`).utmSource, 'x'.repeat(255))
  // 254 letters and an emoji of two code units, of which the first must not remain.
  assert.equal(at(`?utm_source=${'x'.repeat(254)}%F0%9F%98%80`).utmSource, 'x'.repeat(254))
})

test('a click id with any value marks a paid click; Facebook marks every click', () => {
  assert.equal(at('?gclid=x').clickId, 'gclid')
  assert.equal(at('?gbraid=x').clickId, 'gclid')
  assert.equal(at('?msclkid=x').clickId, 'msclkid')
  assert.equal(at('?gclid=&msclkid=').clickId, '')
  assert.equal(at('?fbclid=x').clickId, '')
})
