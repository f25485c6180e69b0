import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import test, { after, before } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { shorten, shownWidth } from '../../src/cli/terminal.ts'
import { eventually } from '../support/eventually.ts'
import { commandOnTerminal, type Installation, install, onTerminal } from '../support/installation.ts'
import { createShop, recordHits, shopDays } from '../support/shop.ts'

let installation: Installation
let siteId: string
before(async () => {
  installation = await install()
  siteId = (await createShop(installation)).id
  const at = '2026-03-03T10:00:00Z'
  await recordHits(installation, siteId, [
    { at, pathname: '/a/rather/long/path/that/no/list/has/room/for/at/any/width/of/a/terminal' },
    { at, pathname: '/ブログ/日本語のとても長いページのタイトルのような名前' },
    { at, name: 'Bang 💥👩‍👩‍👧 e\u0301\u0301' },
    { at, name: 'Evil \x1b]0;title\x07\x1b[2J\u009b31m\u202egnp\u2028\r\n' },
  ])
})
after(() => installation.remove())

const lineReader = createInterface({ input: new PassThrough(), output: new PassThrough() })
after(() => lineReader.close())

/** The width that Node's line editor gives a text, from the data of Unicode. */
function editorWidth(text: string): number {
  lineReader.setPrompt(text)
  return lineReader.getCursorPos().cols
}

const words = ['stats', 'shop.example', ...shopDays, '--compare']

for (const columns of [40, 80, 120]) {
  test(`a site is drawn within ${columns} columns, in colour unless NO_COLOR is set, without anything that a terminal obeys`, async () => {
    const shown = await onTerminal(words, installation.environment, columns)
    const plain = await onTerminal(words, { ...installation.environment, NO_COLOR: '1' }, columns)
    assert.equal(plain, stripVTControlCharacters(shown))
    assert.notEqual(plain, shown)
    for (const line of plain.split('\n')) {
      assert.ok(editorWidth(line) <= columns, `${editorWidth(line)}: ${line}`)
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours themselves
    assert.doesNotMatch(shown.replace(/\x1b\[[\d;]+m/g, ''), /(?!\n)[\p{Cc}\p{Cf}]/u)
    for (const text of [
      'shop.example',
      'Visitors',
      'Visitors by day',
      'Pages',
      'Referrers',
      'Countries',
      'Devices',
      'Custom events',
      'google.com',
      'Germany',
      'Desktop',
      '▲ 400%', // five visitors instead of one
    ])
      assert.ok(plain.includes(text), text)
    assert.match(plain, /^1 Mar( 2026)? to 3 Mar( 2026)? +Europe\/Berlin$/m)
    assert.match(plain, /^Compared with 26 Feb( 2026)? to 28 Feb( 2026)?$/m)
  })

  test(`all sites are drawn within ${columns} columns`, async () => {
    const shown = await onTerminal(
      ['stats', '--all-sites', ...shopDays],
      { ...installation.environment, NO_COLOR: '1' },
      columns,
    )
    for (const line of shown.split('\n')) assert.ok(editorWidth(line) <= columns, line)
    assert.match(shown, /^shop\.example +5 +▲ 400%/m)
  })
}

test('no character is wider than it is taken for, and a text is cut before a character that does not fit', () => {
  const narrow: string[] = []
  for (let point = 0x20; point < 0x40000; point++) {
    const character = String.fromCodePoint(point)
    // Accents take no column of their own, whatever the editor says.
    if (/[\p{C}\p{Zl}\p{Zp}\p{Mn}]/u.test(character) || character !== character.normalize()) continue
    if (shownWidth(character) < editorWidth(character)) narrow.push(point.toString(16))
  }
  assert.deepEqual(narrow, [])
  assert.equal(shorten('日本語', 6), '日本語')
  assert.equal(shorten('日本語', 5), '日本…')
  assert.equal(shorten('日本語', 4), '日…')
  assert.equal(shorten('cafe\u0301s', 5), 'cafe\u0301s')
})

test('--watch draws again and again, fits the height, and Ctrl-C ends it with the last numbers on the first screen', {
  timeout: 120_000,
}, async () => {
  const rows = 30
  const { file, args, env } = commandOnTerminal([...words, '--watch'], installation.environment, 80, rows)
  const child = spawn(file, args, { env, cwd: '/' })
  let shown = ''
  child.stdout.on('data', (chunk) => {
    shown += chunk
  })
  const drawings = () => shown.split('\x1b[H').slice(1)
  await eventually(async () => assert.ok(drawings().length > 0, shown), 60_000)
  assert.match(stripVTControlCharacters(drawings()[0] as string), /▲ 400%/)
  await recordHits(installation, siteId, [{ at: '2026-03-02T12:00:00Z', visitor: 'e' }])
  await eventually(async () => assert.match(stripVTControlCharacters(shown), /▲ 500%/), 60_000)
  for (const drawing of drawings()) assert.ok(drawing.split('\n').length <= rows)
  child.stdin.write('\x03')
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  const [other = '', first = ''] = shown.split('\x1b[?25h\x1b[?1049l')
  assert.ok(other.includes('\x1b[?1049h\x1b[?25l'))
  assert.match(stripVTControlCharacters(first), /▲ 500%[\s\S]*Custom events/)
})
