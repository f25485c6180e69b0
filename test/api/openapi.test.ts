import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { promisify } from 'node:util'
import { custom, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

const run = promisify(execFile)
const tools = new URL('../../tools/openapi', import.meta.url).pathname

test('docs/openapi.json and docs/openapi-v2.json pass two validators, Redocly’s without a warning', async () => {
  const { stdout, stderr } = await run('npm', ['run', '--silent', 'validate'], { cwd: tools })
  assert.equal(stdout.match(/"valid": true/g)?.length, 2)
  assert.match(stdout + stderr, /Your API descriptions? (is|are) valid/)
  assert.doesNotMatch(stdout + stderr, /\d+ (warning|error)/)
})

test('a client generated from docs/openapi.json calls all endpoints', async (t) => {
  const world = await openWorld(t, { now: '2026-11-15T12:00:00Z' })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', title: 'Home', referrer: 'x.com', channel: 'Referral', utmSource: 'news' }),
    custom('signup', { at: '2026-11-14T10:00:09Z', referrer: 'x.com', channel: 'Referral', utmSource: 'news' }),
  )
  const { stdout } = await run('npm', ['run', '--silent', 'calls'], {
    cwd: tools,
    env: { ...process.env, API: `http://127.0.0.1:${world.api.port}/api/v1`, KEY: world.key.text },
  })
  assert.deepEqual(JSON.parse(stdout), {
    visitors: 1,
    change: null,
    days: ['2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12', '2026-11-13', '2026-11-14', '2026-11-15'],
    pages: [['/', 'Home', 1]],
    referrers: ['x.com'],
    channels: [['Referral', 100]],
    devices: ['Desktop'],
    geo: ['Germany'],
    events: [['signup', 1]],
    utm: ['news'],
    sites: [[world.domain, 'UTC']],
    sitesOverview: [['2026-11-15T12:00:00+00:00', 1, null]],
    next: null,
    countries: [['AD', 'Andorra']],
    error: 'invalid_parameter',
    limit: 5,
  })
})
