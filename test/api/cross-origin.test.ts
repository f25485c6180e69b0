// Real Chromium and a page of another origin: headers that clients and their libraries add must not make the browser block the call.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { openBrowser } from '../support/browser.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

test('a page of another origin may send the headers that libraries add, and read the response and its headers', async (t) => {
  const world = await openWorld(t, { now: '2026-11-15T12:00:00Z' })
  await world.record(
    pageview({ at: '2026-11-14T10:00:00Z', pathname: '/a' }),
    pageview({ at: '2026-11-14T10:00:00Z', pathname: '/b' }),
  )
  const elsewhere = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>Elsewhere</title>')
  }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const browser = await openBrowser()
  t.after(async () => {
    await browser.close()
    elsewhere.close()
    elsewhere.closeAllConnections()
  })
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
  const url = `http://127.0.0.1:${world.api.port}/api/v1/stats/pages?limit=1`
  const call = (headers: Record<string, string>) =>
    page.evaluate(
      async ([address, sent]) => {
        try {
          const response = await fetch(address, { headers: sent })
          const { data } = (await response.json()) as { data: unknown[] }
          return { status: response.status, rows: data.length, total: response.headers.get('Stats-Total-Rows') }
        } catch (error) {
          return String(error)
        }
      },
      [url, { ...headers, Authorization: `Bearer ${world.key.text}` }] as const,
    )
  const good = { status: 200, rows: 1, total: '2' }
  const added: Record<string, string>[] = [
    {},
    { 'Content-Type': 'application/json' },
    { 'X-Requested-With': 'XMLHttpRequest' },
    { 'Cache-Control': 'no-cache' },
    { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    {
      'Content-Type': 'application/json',
      'X-Requested-With': 'XMLHttpRequest',
      'Cache-Control': 'no-cache',
      'If-None-Match': '"x"',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'X-Anything_else.1': 'x',
    },
  ]
  for (const headers of added) assert.deepEqual(await call(headers), good, JSON.stringify(headers))
})
