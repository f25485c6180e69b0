// `footfall serve` started while the disk of the spool is full: API and console answer, the collector asks senders to try again, and
// everything works as soon as there is room.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { browserAgent } from '../support/collector-process.ts'
import { eventually } from '../support/eventually.ts'
import { install } from '../support/installation.ts'
import { launchServe } from '../support/serve-process.ts'

const skip =
  process.getuid?.() === 0 && process.platform === 'linux' ? false : 'only root on Linux can mount a small disk'

test('a full spool disk stops the collector, not API and console', { skip }, async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'footfall-full-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
  t.after(() => {
    execFileSync('umount', ['--lazy', disk])
    rmSync(disk, { recursive: true })
  })
  const installation = await install()
  t.after(() => installation.remove())
  await installation.json('site', 'create', 'full.example')
  const { key } = await installation.json('key', 'create', 'full.example')
  const server = await launchServe(installation.addresses, { SPOOL_FOLDER: join(disk, 'spool') })
  t.after(() => server.stop())
  await server.untilReady()

  const body = JSON.stringify({ n: 'pageview', u: 'https://full.example/', d: 'full.example' })
  const statusOf = async (path: string, init: RequestInit = {}) => (await fetch(server.url + path, init)).status
  const send = () => statusOf('/api/event', { method: 'POST', body, headers: { 'User-Agent': browserAgent } })
  assert.deepEqual(
    [
      await send(),
      await statusOf('/api/v1/stats/overview?range=7d', { headers: { Authorization: `Bearer ${key}` } }),
      await statusOf('/login'),
    ],
    [503, 200, 200],
  )
  assert.match(server.log(), /The disk of the spool is full.*"Spool does not answer"/)

  execFileSync('mount', ['-o', 'remount,size=64m', disk])
  await eventually(async () => assert.equal(await send(), 202))
  await eventually(async () => {
    const answer = await fetch(`${server.url}/api/v1/stats/overview?range=24h`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    assert.equal(((await answer.json()) as { data: { current: { pageviews: number } } }).data.current.pageviews, 1)
  })
  assert.ok(server.isRunning())
})
