// Runs every example that the reference prints, as a reader would: copied from the page in a browser, with the key in KEY. The numbers that
// it prints must be those of the API.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { format, promisify } from 'node:util'
import { freePort } from '../../dev/clickhouse/server.ts'
import { openBrowser } from '../support/browser.ts'
import { custom, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openWorld, type World } from '../support/world.ts'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)
const dashboard = new URL('src/api/reference/dashboard.js', root)

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-examples-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Traffic that gives every endpoint something to say, with text in it that must not become code. */
async function openBusyWorld(t: TestContext): Promise<World> {
  const world = await openWorld(t, { now: '2026-11-15T12:00:00Z' })
  const visit = { referrer: 'x.com', channel: 'Referral', utmSource: 'news' } as const
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', ...visit, pathname: '/a', title: 'A "quoted" <title> & ünïcode' }),
    pageview({ at: '2026-11-14T10:00:30Z', ...visit, pathname: '/b' }),
    custom('signup', { at: '2026-11-14T10:01:00Z', ...visit }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'other', country: 'FR', device: 'Mobile', pathname: '/a' }),
  )
  return world
}

type Language = 'curl' | 'JavaScript' | 'Python' | 'Client'

interface Printed {
  endpoint: string
  address: string
  language: Language
  text: string
}

async function printedExamples(t: TestContext, { api }: World): Promise<Printed[]> {
  const browser = await openBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${api.port}/api/v1/docs`)
  return page.evaluate<Printed[]>(`[...document.querySelectorAll('.samples pre[data-language]')].map((pre) => ({
    endpoint: pre.closest('section').id,
    address: /\\/api\\/v1[^"]*/.exec(pre.closest('.samples').querySelector('pre').textContent)[0],
    language: pre.dataset.language,
    text: pre.textContent,
  }))`)
}

/** As Python prints what it read from JSON. */
function pythonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (value === null) return 'None'
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, one]) => `'${name}': ${pythonText(one)}`)
      .join(', ')}}`
  if (typeof value !== 'string') return `${value}`
  return value.includes("'") && !value.includes('"') ? `"${value}"` : `'${value}'`
}

test('every example of the reference runs as it is printed and gives the numbers of the API', async (t) => {
  const world = await openBusyWorld(t)
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'node_modules/@footfall'), { recursive: true })
  symlinkSync(new URL('packages/client', root).pathname, join(folder, 'node_modules/@footfall/client'))
  const options = { cwd: folder, env: { PATH: process.env.PATH, KEY: world.key.text, PYTHONIOENCODING: 'utf-8' } }
  function runFile(program: string, name: string, text: string) {
    writeFileSync(join(folder, name), text)
    return run(program, [name], options)
  }
  const runs: Record<Language, (text: string, name: string) => Promise<{ stdout: string }>> = {
    curl: (text) => run('sh', ['-c', text], options),
    JavaScript: (text, name) => runFile(process.execPath, `${name}.mjs`, text),
    Python: (text, name) => runFile('python3', `${name}.py`, text),
    Client: (text, name) => runFile(process.execPath, `${name}-client.mjs`, text),
  }
  const expected: Record<Language, (body: { data: unknown }) => string> = {
    curl: (body) => JSON.stringify(body),
    JavaScript: ({ data }) => `${format(data)}\n`,
    Python: ({ data }) => `${pythonText(data)}\n`,
    Client: ({ data }) => `${format(data)}\n`,
  }

  const printed = await printedExamples(t, world)
  const { json: api } = await world.api.fetch('/api/v1/openapi.json')
  const operations = Object.values<{ get: { operationId: string } }>(api.paths).map(({ get }) => get.operationId)
  assert.deepEqual(
    printed.map(({ endpoint, language }) => `${endpoint} ${language}`),
    ['quick-start', ...operations].flatMap((endpoint) =>
      Object.keys(runs).map((language) => `${endpoint} ${language}`),
    ),
  )
  for (const { endpoint, address, language, text } of printed) {
    const { json } = await world.get(address.replace('/api/v1', ''))
    assert.ok(json.data.length === undefined || json.data.length > 0, `${endpoint} has something to show`)
    const { stdout } = await runs[language](text, endpoint)
    assert.equal(stdout, expected[language](json), `${endpoint} in ${language}:\n${text}`)
  }
  options.env.KEY = 'ff_s_wrong'
  const { text = '' } = printed.find(({ language }) => language === 'JavaScript') ?? {}
  await assert.rejects(runs.JavaScript(text, 'wrong'), /This API key does not exist/)
})

test('the dashboard in 30 lines shows the numbers of the site, escapes them, and never shows the key', async (t) => {
  const source = readFileSync(dashboard, 'utf8')
  assert.ok(source.trimEnd().split('\n').length <= 30)
  const guide = readFileSync(new URL('docs/dashboard.md', root), 'utf8')
  assert.ok(guide.includes(`\`\`\`js\n${source}\`\`\`\n`), 'docs/dashboard.md prints the same lines')

  const world = await openBusyWorld(t)
  await world.record(pageview({ at: '2026-11-15T10:00:00Z', visitor: 'third', pathname: '/<b>&amp;' }))
  const file = join(makeFolder(t), 'dashboard.mjs')
  copyFileSync(dashboard, file)
  const open = async (key: string) => {
    const port = await freePort()
    const env = { API: `http://127.0.0.1:${world.api.port}/api/v1`, KEY: key, PORT: String(port) }
    const child = spawn(process.execPath, [file], { env, stdio: 'inherit' })
    t.after(async () => {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    })
    return eventually(async () => (await fetch(`http://127.0.0.1:${port}/`)).text(), 10_000)
  }
  const page = await open(world.key.text)
  assert.match(page, /<h1>3 visitors in 30 days<\/h1>/)
  assert.match(page, /<h2>Pages<\/h2><ol><li>\/a: 2<li>\/&#60;b>&#38;amp;: 1<li>\/b: 1<\/ol>/)
  assert.match(page, /<h2>Referrers<\/h2><ol><li>x\.com: 1<\/ol>/)
  assert.match(page, /<h2>Countries<\/h2><ol><li>Germany: 2<li>France: 1<\/ol>/)
  assert.equal(page.match(/<rect /g)?.length, 30)
  assert.ok(!page.includes(world.key.text))
  assert.match(await open('ff_s_wrong'), /^This API key does not exist\./)
})
