// What the package promises about itself: small, without dependencies, and every function can be left out.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const files = readdirSync(new URL('packages/client', root)).filter((name) => name.endsWith('.js'))
const sources = files.map((name) => read(`packages/client/${name}`))
const description = JSON.parse(read('packages/client/package.json'))

/** The statements of a module: lines without indentation, without comments and the ends of blocks. */
const statements = (text: string): string[] =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => /^[^\s})/]/.test(line))

test('the client takes at most 3 kB, compressed and with its comments', () => {
  const bytes = sources.map((text) => gzipSync(text, { level: 9 }).length).reduce((sum, size) => sum + size)
  assert.deepEqual(files.sort(), ['index.js', 'request.js', 'v2.js'])
  assert.ok(bytes > 500 && bytes <= 3_000, `${bytes} bytes`)
})

test('it has no dependencies, the version of Footfall and its license', () => {
  for (const field of Object.keys(description)) assert.doesNotMatch(field, /dependencies|scripts/i)
  assert.equal(description.version, JSON.parse(read('package.json')).version)
  assert.equal(read('packages/client/LICENSE'), read('LICENSE'))
  const imported = sources.flatMap(statements).flatMap((line) => / from '(.+)'$/.exec(line)?.[1] ?? [])
  assert.deepEqual([...new Set(imported)], ['./request.js'])
})

test('the links of its README work without the rest of the repository', () => {
  const links = [...read('packages/client/README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link as string)
  const home = description.repository.url.replace(/^git\+|\.git$/g, '')
  assert.ok(links.length >= 2)
  for (const link of links) {
    assert.ok(link.startsWith(`${home}/blob/main/`), link)
    assert.ok(existsSync(new URL(link.slice(`${home}/blob/main/`.length), root)), link)
  }
})

test('bundlers can leave out every function: loading the modules does nothing but declare', () => {
  assert.equal(description.sideEffects, false)
  const declaration =
    /^(?:import \{ [\w, ]+ \} from|export \{ \w+ \} from|export const \w+ = \([\w, ]+\) => (?:get|watch)\(|(?:export )?(?:async )?function\*? |export class \w+ extends Error \{)/
  const all = sources.flatMap(statements)
  assert.ok(all.length > 15)
  assert.deepEqual(
    all.filter((line) => !declaration.test(line)),
    [],
  )
})

test('each function works with the others left out', async () => {
  const request = new URL('packages/client/request.js', root).href
  const server = { url: 'http://127.0.0.1:1', key: 'any' }
  const modules = ['index.js', 'v2.js'].map((name) => statements(read(`packages/client/${name}`)))
  const own = modules.flatMap((lines) =>
    lines.filter((line) => line.startsWith('export const')).map((line) => ({ lines, line })),
  )
  assert.ok(own.length >= 12)
  for (const { lines, line } of own) {
    const module = [...lines.filter((one) => one.startsWith('import')), line].join('\n')
    const text = module.replace("'./request.js'", `'${request}'`)
    const exported: Record<string, (to: typeof server) => Promise<unknown> | AsyncGenerator> = await import(
      `data:text/javascript,${encodeURIComponent(text)}`
    )
    const [only, ...more] = Object.values(exported)
    assert.deepEqual(more, [])
    const called = only!(server)
    const asked = 'next' in called ? called.next() : called
    await assert.rejects(asked, { name: 'TypeError', message: 'fetch failed' }, line) // port 1 is closed
  }
})
