// `footfall mcp` as an assistant starts it: a process that speaks on stdin and stdout, used by the official client.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { recordTraffic } from '../mcp/traffic.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { inherited } from '../support/inherited.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { connectClient, type Era, type McpClient, textOf } from '../support/mcp-client.ts'
import { connect, disconnect } from '../support/stores.ts'

const command = new URL('../../src/cli/main.ts', import.meta.url).pathname
let installation: Installation
let api: ApiProcess
let traffic: Awaited<ReturnType<typeof recordTraffic>>

before(async () => {
  installation = await install()
  const stores = connect(installation.addresses)
  traffic = await recordTraffic(stores)
  await disconnect(stores)
  api = await startApiProcess(installation.addresses)
})
after(async () => {
  await api?.stop()
  await installation?.remove()
})

/** `failed` collects what the process writes to stderr. */
async function start(
  words: readonly string[],
  environment: Record<string, string>,
  era: Era = 'legacy',
): Promise<McpClient & { failed(): string }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, 'mcp', ...words],
    env: { ...inherited, ...environment },
    cwd: '/',
    stderr: 'pipe',
  })
  let failed = ''
  transport.stderr?.on('data', (chunk) => {
    failed += chunk
  })
  return { ...(await connectClient(transport, era)), failed: () => failed }
}

const november = { site: 'example.com', start: '2026-11-09', end: '2026-11-15' }
const lastWeek = { visitors: 4, pageviews: 5, sessions: 4, bounce_rate: 50, avg_duration: 28 }

test('on an installation: all of its sites, without a key', { timeout: 600_000 }, async () => {
  for (const era of ['legacy', 'modern'] as const) {
    const assistant = await start([], installation.environment, era)
    try {
      const { tools } = await assistant.client.listTools()
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['sites', 'overview', 'timeseries', 'breakdown', 'compare', 'explain_metric'],
      )
      const { sites } = (await assistant.call('sites')).structuredContent as { sites: { domain: string }[] }
      assert.deepEqual(
        sites.map(({ domain }) => domain),
        ['example.com', 'shop.example', 'stranger.example'],
      )
      const overview = (await assistant.call('overview', november)).structuredContent as { current: unknown }
      assert.deepEqual(overview.current, lastWeek, era)
      const refused = await assistant.call('overview')
      assert.equal(refused.isError, true)
      assert.equal(textOf(refused), 'Name the site: example.com, shop.example, stranger.example.')
    } finally {
      await assistant.close()
    }
    assert.equal(assistant.failed(), '')
  }
})

test('on a server: the sites of its key, with the numbers of the server', async () => {
  const environment = { PATH: process.env.PATH ?? '', FOOTFALL_KEY: traffic.accountKey }
  const assistant = await start(['--url', api.url], environment)
  try {
    const { sites } = (await assistant.call('sites')).structuredContent as { sites: { domain: string }[] }
    assert.deepEqual(
      sites.map(({ domain }) => domain),
      ['example.com', 'shop.example'],
    )
    const overview = (await assistant.call('overview', november)).structuredContent as { current: unknown }
    assert.deepEqual(overview.current, lastWeek)
    const pages = await assistant.call('breakdown', { ...november, by: 'page', limit: 1 })
    const { rows, total_rows } = pages.structuredContent as { rows: unknown; total_rows: number }
    assert.deepEqual([rows, total_rows], [[{ page: '/', visitors: 3, pageviews: 3 }], 2])
    assert.equal((await assistant.call('overview', { ...november, site: 'stranger.example' })).isError, true)
  } finally {
    await assistant.close()
  }
  assert.equal(assistant.failed(), '')
})

test('a refused key and a server that does not answer are errors of the call that say what to do', async () => {
  const environment = { PATH: process.env.PATH ?? '', FOOTFALL_KEY: 'ff_a_nonsense' }
  for (const [url, words] of [
    [api.url, /This API key does not exist.*FOOTFALL_KEY/],
    ['http://127.0.0.1:1', /127\.0\.0\.1:1 cannot be reached.*Check --url/],
  ] as const) {
    const assistant = await start(['--url', url], environment)
    try {
      const refused = await assistant.call('sites')
      assert.equal(refused.isError, true)
      assert.match(textOf(refused), words)
    } finally {
      await assistant.close()
    }
  }
})

test('without a key, and with an unknown option, it does not start and stdout stays empty', async () => {
  for (const [words, reason] of [
    [['--url', api.url], /needs an API key/],
    [['--sites'], /footfall mcp --help/],
    [['example.com'], /takes no arguments/],
  ] as const) {
    const { code, stdout, stderr } = await runFootfall(['mcp', ...words], installation.environment)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, reason)
  }
})

test('when stdin ends it ends too, with exit code 0 and nothing on stdout', async () => {
  const child = spawn(process.execPath, [command, 'mcp'], {
    env: { ...inherited, ...installation.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.on('data', (chunk) => {
    written += chunk
  })
  const [code] = await once(child, 'close')
  assert.deepEqual([code, written], [0, ''])
})
