import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type Installation, install, onTerminal, runFootfall } from '../support/installation.ts'

let installation: Installation
before(async () => {
  installation = await install()
  await installation.json(
    'site',
    'create',
    'a-site-with-a-rather-long-name.example',
    '--timezone',
    'America/Argentina/Buenos_Aires',
  )
  await installation.json(
    'key',
    'create',
    'a-site-with-a-rather-long-name.example',
    '--name',
    'The dashboard on the wall',
  )
})
after(() => installation.remove())

const widthOf = (text: string) =>
  Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => [...line].length),
  )
const isColoured = (text: string) => text !== stripVTControlCharacters(text)

for (const columns of [60, 120]) {
  test(`tables and help fit a terminal of ${columns} columns, in colour unless NO_COLOR is set`, async () => {
    for (const words of [['site', 'list'], ['key', 'list'], ['account', 'list'], ['help'], ['secret', 'status']]) {
      const shown = await onTerminal(words, installation.environment, columns)
      assert.ok(shown.trim() !== '', words.join(' '))
      // Five columns with at least 8 characters each need 48; everything that can shrink has shrunk.
      assert.ok(widthOf(shown) <= columns, `${words.join(' ')} is ${widthOf(shown)} wide:\n${shown}`)
      const plain = await onTerminal(words, { ...installation.environment, NO_COLOR: '1' }, columns)
      assert.equal(isColoured(plain), false, words.join(' '))
      assert.equal(plain, stripVTControlCharacters(shown), words.join(' '))
    }
    assert.ok(isColoured(await onTerminal(['site', 'list'], installation.environment, columns)))
  })
}

test('long work shows a progress bar on a terminal, and lines elsewhere', async () => {
  const shown = await onTerminal(['demo', 'bar.example', '--events', '10000'], installation.environment, 80)
  assert.match(shown, /Generating traffic [█░]+ 100 % {2}10,000 of 10,000/)
  assert.match(stripVTControlCharacters(shown), /Pageviews by week {2}[▁▂▃▄▅▆▇█]{50,}/)
  const { stderr, stdout } = await installation.footfall('demo', 'lines.example', '--events', '10000')
  assert.match(stderr, /^Generating traffic: 100 % /m)
  assert.equal(isColoured(stderr + stdout), false)
})

test('--help of a command and of a subcommand is printed and asks for nothing', async () => {
  for (const words of [['demo'], ['site', 'create']]) {
    const { stdout, code } = await runFootfall([...words, '--help'], {})
    assert.equal(code, 0)
    assert.ok(stdout.includes(`footfall ${words.join(' ')}`))
  }
})
