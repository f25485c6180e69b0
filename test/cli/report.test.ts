import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { type Installation, install } from '../support/installation.ts'
import { createShop } from '../support/shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'footfall-report-'))
const file = (name: string) => join(folder, name)
let installation: Installation
let { footfall, json } = {} as Installation
before(async () => {
  installation = await install({ PUBLIC_URL: 'https://stats.example' })
  ;({ footfall, json } = installation)
  await createShop(installation)
})
after(async () => {
  await installation.remove()
  rmSync(folder, { recursive: true })
})

const preview = (...words: string[]) => ['report', 'preview', 'shop.example', ...words]

test('the preview of a month is the HTML part, or the text part if the file ends in .txt', async () => {
  const march = ['--month', '--period', '2026-03-01']
  const { data, ...rest } = { data: await json(...preview(...march, '--to', file('march.txt'))) }
  assert.deepEqual(rest, {})
  assert.equal(data.subject, 'shop.example: 4 visitors in March 2026')
  assert.deepEqual([data.interval, data.firstDay, data.lastDay], ['month', '2026-03-01', '2026-03-31'])
  const text = readFileSync(file('march.txt'), 'utf8')
  assert.match(text, /^4 visitors \(\+300% from 1\)$/m)
  assert.match(text, /^https:\/\/stats\.example\/sites\/shop\.example\?range=custom&start=2026-03-01&end=2026-03-31$/m)
  assert.doesNotMatch(text, /was due/)
  const { code, stdout } = await footfall(...preview(...march, '--to', file('march.html')))
  assert.equal(code, 0)
  assert.match(stdout, /shop\.example: 4 visitors in March 2026/)
  assert.match(readFileSync(file('march.html'), 'utf8'), /^<!doctype html>.*<\/html>\n$/s)
})

test('without a period it is the last week that is over', async () => {
  const { firstDay, lastDay } = await json(...preview('--to', file('week.html')))
  const since = (Date.now() - Date.parse(lastDay)) / 86_400_000
  assert.ok(since >= 0.9 && since <= 8.1, lastDay)
  assert.equal(new Date(firstDay).getUTCDay(), 1)
  assert.equal(Date.parse(lastDay) - Date.parse(firstDay), 6 * 86_400_000)
})

test('what cannot be previewed is refused with a hint', async () => {
  const refused = async (words: string[], message: RegExp) => {
    const { code, stderr } = await footfall(...words)
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, message)
  }
  await refused(preview(), /Which file\?.*--to report\.html/s)
  await refused(preview('--period', '2026-03-03', '--to', file('x')), /not the first day of a week.*Monday/s)
  await refused(preview('--period', 'soon', '--to', file('x')), /not the first day of a week/)
  await refused(preview('--month', '--period', '2026-03-02', '--to', file('x')), /not the first day of a month/)
  await refused(preview('--period', '2099-01-05', '--to', file('x')), /not over yet/)
  await refused(['report', 'preview', 'other.example', '--to', file('x')], /There is no site other\.example/)
})
