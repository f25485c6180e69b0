// Runs every example of docs/integrate.md and of the client's README against the real API.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { serverOf } from '../client/runners.ts'
import { hits } from '../client/visits.ts'
import { noon } from '../contract/vocabulary.ts'
import { read, root } from '../house/tree.ts'
import { yamlFaults } from '../house/yaml-form.ts'
import { inherited } from '../support/inherited.ts'
import { connectClient } from '../support/mcp-client.ts'
import { openWorld, type World } from '../support/world.ts'

const page = read('docs/integrate.md')

/** The blocks with these words after the fence. */
const blocks = (text: string, words: string): string[] =>
  [...text.matchAll(new RegExp(`^( *)\`\`\`${words}\n([^]*?)^\\1\`\`\``, 'gm'))].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

interface Runnable {
  world: World
  folder: string
  run(command: string, ...given: string[]): Promise<string>
}

/** A site with visits, and an empty folder in which @footfall/client is installed. */
async function runnable(t: TestContext): Promise<Runnable> {
  const world = await openWorld(t, { now: noon })
  await world.record(...hits)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-examples-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(join(folder, 'node_modules/@footfall'), { recursive: true })
  symlinkSync(new URL('packages/client', root).pathname, join(folder, 'node_modules/@footfall/client'))
  symlinkSync(new URL('node_modules/@types', root).pathname, join(folder, 'node_modules/@types'))
  const env = { PATH: process.env.PATH, HOME: folder, FOOTFALL_KEY: world.key.text }
  return {
    world,
    folder,
    run: async (command, ...given) =>
      (await promisify(execFile)(command, given, { cwd: folder, env, timeout: 120_000 })).stdout,
  }
}

const addressed = (world: World, text: string): string =>
  text.replaceAll('https://stats.example.com', serverOf(world).url.toString())

test('the commands for a shell print the numbers, as JSON and as CSV', async (t) => {
  const { world, run } = await runnable(t)
  const [json, csv, ...more] = blocks(page, 'sh shell').map((block) => addressed(world, block))
  assert.deepEqual(more, [])
  assert.equal(JSON.parse(await run('bash', '-ec', json!)).data.current.visitors, 3)
  assert.equal(await run('bash', '-ec', csv!), 'pathname,title,views,visitors\r\n/docs,,3,1\r\n/,Home,2,2\r\n')
})

test('the TypeScript compiles and runs with the installed client', async (t) => {
  const { world, folder, run } = await runnable(t)
  const [example = '', ...more] = blocks(page, 'ts typescript')
  assert.deepEqual(more, [])
  writeFileSync(join(folder, 'example.ts'), addressed(world, example))
  const options = '--noEmit --strict --target esnext --module nodenext --types node --allowImportingTsExtensions'
  const tsc = new URL('node_modules/typescript/bin/tsc', root).pathname
  assert.equal(await run(process.execPath, tsc, ...options.split(' '), 'example.ts'), '')
  assert.equal(await run(process.execPath, 'example.ts'), '3 visitors, 0 in the seven days before\n3 /docs\n2 /\n')
})

const hasPython = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'python3')))

test('the Python runs, and says why a request was refused', { skip: !hasPython && 'python3 is missing' }, async (t) => {
  const { world, folder, run } = await runnable(t)
  const [example = '', ...more] = blocks(page, 'python python').map((block) => addressed(world, block))
  assert.deepEqual(more, [])
  writeFileSync(join(folder, 'example.py'), example)
  assert.equal(await run('python3', 'example.py'), '3 visitors\n3 /docs\n2 /\n')
  writeFileSync(join(folder, 'example.py'), example.replaceAll('range="7d"', 'range="8d"'))
  await assert.rejects(run('python3', 'example.py'), { code: 1, stderr: /^range must be one of 24h, [\w, ]+\.\n$/ })
})

test('every other block is one of those that are checked elsewhere', () => {
  const words = [...page.matchAll(/^ *```(\w.*)$/gm)].map(([, word]) => word)
  assert.deepEqual(words, [
    'sh', // exports a key
    'sh shell',
    'sh shell',
    'sh', // footfall stats: test/cli
    'ts typescript',
    'python python',
    'yaml grafana',
    'json assistant-http',
    'json assistant-command',
  ])
})

test('the file for Grafana is YAML with the address of a server', () => {
  const [grafana = ''] = blocks(page, 'yaml grafana')
  assert.deepEqual(yamlFaults(grafana), [])
  assert.match(grafana, /^ +type: yesoreyeram-infinity-datasource\n +url: https:\/\/stats\.example\.com\/api\/v1$/m)
})

test('an assistant with either description reaches the numbers', async (t) => {
  const { world } = await runnable(t)
  const described = (kind: string) => {
    const [block = ''] = blocks(page, `json assistant-${kind}`)
    return JSON.parse(addressed(world, block.replace('ff_s_…', world.key.text))).mcpServers.footfall
  }
  const { type, url, headers } = described('http')
  assert.equal(type, 'http')
  const { command, args, env } = described('command')
  assert.equal(command, 'footfall')
  const footfall = new URL('src/cli/main.ts', root).pathname
  const transports = [
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    new StdioClientTransport({ command: process.execPath, args: [footfall, ...args], env: { ...inherited, ...env } }),
  ]
  for (const transport of transports) {
    const assistant = await connectClient(transport)
    const { structuredContent } = await assistant.call('overview', { site: world.domain, range: '7d' })
    const { current } = structuredContent as { current: { visitors: number } }
    assert.equal(current.visitors, 3)
    await assistant.close()
  }
})

test("the examples of the client's README run one after another", async (t) => {
  const { world, folder, run } = await runnable(t)
  // A busy machine may need longer than a reader would wait.
  const patient = read('packages/client/README.md').replace('timeout(5000)', 'timeout(100_000)')
  const examples = blocks(patient, 'js')
  assert.equal(examples.length, 7)
  // A stream does not end by itself.
  const ending = examples
    .join('\n')
    .replace(
      /^for await .*\blive\(server\)\) (.*)$/m,
      (_, body) => `for await (const { data } of live(server)) { ${body}; break }`,
    )
  writeFileSync(join(folder, 'example.js'), addressed(world, ending))
  const [totals, top, readers, now, refusal, ...sites] = (await run(process.execPath, 'example.js'))
    .trimEnd()
    .split('\n')
  assert.deepEqual([totals, top], ['3 null', '/ 2'])
  assert.equal(readers, 'x.com 2')
  // Nobody was there in the last minutes.
  assert.equal(now, '0 undefined')
  assert.match(refusal ?? '', /^invalid_date 400 \S/)
  assert.deepEqual(sites, [`${world.domain} 3`])
})
