// The API and the console share one address, so browsers send the console's cookies to the API. They must mean nothing there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../../src/accounts/keys.ts'
import { reports } from '../../src/stats/reports.ts'
import { eventually } from '../support/eventually.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole } from './console.ts'

test('no answer of the API depends on a cookie, and none sets one', async (t) => {
  const console = await openConsole(t, { now: '2026-03-10T12:00:00Z' })
  const { url, stores, accountId, siteId, domain } = console
  const owner = await console.signedIn('owner')
  const session = owner.cookies.get('footfall-session') as string
  assert.equal((await owner.get('/')).status, 200, 'the session is valid')
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A test' })
  const cookies = [
    `footfall-session=${session}`,
    `__Host-footfall-session=${session}; footfall-session=${session}; footfall-form=x; footfall-theme=dark`,
    `Authorization=Bearer ${key.text}`,
  ]

  /** Again if ClickHouse was too slow, as on a busy machine: the response then says so. */
  const ask = (...request: Parameters<typeof askOnce>) =>
    eventually(async () => {
      const answer = await askOnce(...request)
      assert.ok(answer.status !== 500 && !answer.headers.some(([name]) => name === 'stats-warning'))
      return answer
    })

  async function askOnce(path: string, headers: Record<string, string>, method = 'GET') {
    const response = await fetch(url + path, { method, headers })
    assert.deepEqual(response.headers.getSetCookie(), [], path)
    // These differ from one request to the next.
    const changing = ['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    const kept = [...response.headers].filter(([name]) => !changing.includes(name))
    return { status: response.status, headers: kept, text: await response.text() }
  }

  const bearer = { Authorization: `Bearer ${key.text}` }
  const requests: [path: string, headers: Record<string, string>, status: number, method?: string][] = [
    ...Object.keys(reports).map((name): [string, Record<string, string>, number] => [
      `/api/v1/stats/${name}?range=7d`,
      bearer,
      200,
    ]),
    ...Object.keys(reports).map((name): [string, Record<string, string>, number] => [`/api/v1/stats/${name}`, {}, 401]),
    [`/api/v1/stats/overview?site_id=${siteId}`, {}, 401],
    [`/api/v1/stats/overview?site_id=${domain}`, { Authorization: `Bearer ${session}` }, 401],
    ['/api/v1/stats/overview?range=wrong', bearer, 400],
    ['/api/v1/stats/overview?site_id=site_aaaaaaaaaaaaaaaa', bearer, 403],
    ['/api/v1/nothing', bearer, 404],
    ['/api/v1/stats/overview', bearer, 405, 'POST'],
    ['/api/v1/stats/overview', {}, 204, 'OPTIONS'],
    ['/api/v1/docs', {}, 200],
    ['/api/v1/openapi.json', {}, 200],
  ]
  for (const [path, headers, status, method] of requests) {
    const plain = await ask(path, headers, method)
    assert.equal(plain.status, status, `${method ?? 'GET'} ${path}`)
    for (const Cookie of cookies) {
      assert.deepEqual(
        await ask(path, { ...headers, Cookie }, method),
        plain,
        `${method ?? 'GET'} ${path} with ${Cookie}`,
      )
    }
  }
})
