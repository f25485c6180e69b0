import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { classifyChannel } from '../../src/enrichment/channel.ts'
import { domains, names } from '../../src/enrichment/channel-rules.ts'
import { readSource } from '../../src/enrichment/source.ts'
import { channels } from '../../src/traffic/channel.ts'
import { caseHostnames, channelCases } from './channel-cases.ts'

test('every visit of the table gets its channel', () => {
  const wrong = channelCases.flatMap(({ query, referrer, channel }) => {
    const source = readSource(new URL(`https://site.example/page${query}`), referrer, {
      hostnames: [...caseHostnames],
      allowSubdomains: false,
    })
    const got = classifyChannel(source)
    return got === channel ? [] : [`${query} ${referrer}: ${got}, not ${channel}`]
  })
  assert.deepEqual(wrong, [])
})

test('the table has at least 200 cases, none twice, and every channel', () => {
  assert.ok(channelCases.length >= 200, String(channelCases.length))
  assert.equal(new Set(channelCases.map(({ query, referrer }) => `${query} ${referrer}`)).size, channelCases.length)
  assert.deepEqual([...new Set(channelCases.map(({ channel }) => channel))], [...channels])
})

test('the documentation lists every source that counts as mail', () => {
  const metrics = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  const row = (title: string) =>
    new RegExp(`^\\| ${title} \\| (.*) \\|$`, 'm').exec(metrics)?.[1]?.replaceAll('`', '').split(', ').toSorted()
  assert.deepEqual(row('`utm_source` that counts as mail'), names.mail.toSorted())
  assert.deepEqual(row('domain that counts as mail'), domains.mail.toSorted())
})

test('no domain or name belongs to two kinds, and each is spelled as it is looked up', () => {
  for (const table of [domains, names]) {
    const all = Object.values(table).flat()
    assert.deepEqual(
      all.filter((word, index) => all.indexOf(word) !== index),
      [],
    )
    assert.deepEqual(
      all.filter((word) => word !== word.toLowerCase() || word.startsWith('www.')),
      [],
    )
  }
})
