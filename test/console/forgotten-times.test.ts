import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { inTime } from '../support/in-time.ts'
import { mailsTo } from '../support/mails.ts'
import { openConsole } from './console.ts'

const rounds = 40

test('asking for a new password takes as long for an address that nobody has', async (t) => {
  const console = await openConsole(t, { sendsMail: true })
  const visitor = console.stranger()
  const path = '/login/forgotten'
  const [, token = ''] = /name="token" value="([^"]*)"/.exec((await visitor.get(path)).text) ?? []
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  const asked: string[] = []
  for (let round = 0; round < rounds; round++) {
    const emails = { known: (await console.addUser('viewer')).email, unknown: `${randomUUID()}@example.com` }
    asked.push(emails.known)
    for (const kind of round % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      // Each from a network of its own, because a network may ask only so often.
      const network = { 'X-Forwarded-For': `198.51.${round}.${kind === 'known' ? 1 : 2}` }
      const began = performance.now()
      const page = await visitor.post('/livez', path, { token, email: emails[kind] }, network)
      times[kind].push(performance.now() - began)
      assert.equal(page.status, 200)
    }
  }
  const median = (all: number[]): number => all.toSorted((one, other) => one - other)[rounds / 2] as number
  const [known, unknown] = [median(times.known), median(times.unknown)]
  // If the answer waited for the mail, it would take several times as long for a user.
  inTime(known < unknown * 1.5 && unknown < known * 1.5, `known: ${known} ms, unknown: ${unknown} ms`)
  // All of them were users, or the times would say nothing.
  for (const email of asked)
    await eventually(async () => assert.equal((await mailsTo(console.stores.postgres, email)).length, 1))
})
