// The line of a dashboard that says how many of its answers were recounted from events (decision D-247).
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addSharedLink } from '../../src/users/shared-links.ts'
import { eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole, type Page } from './console.ts'
import { textOf } from './dashboard-page.ts'

async function openSite(t: TestContext) {
  const console = await openConsole(t, { now: '2026-11-15T12:00:00Z' })
  const { stores, siteId } = console
  const hit = pageview({ at: '2026-11-13T10:00:00Z' })
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: [eventOf(hit, siteId, 'UTC')] })
  const { postgres } = stores
  return {
    ...{ console, siteId, postgres },
    site: (await findSite(postgres, siteId)) as Site,
    dashboard: `/sites/${console.domain}`,
    // Recounted since 1 November in UTC.
    recounted: (answers: number, differences: number) => postgres`
      INSERT INTO recounts (site_id, round, since, answers, differences)
      VALUES (${siteId}, 1, '2026-11-01T00:30:00Z', ${answers}, ${differences})
      ON CONFLICT (site_id) DO UPDATE SET answers = ${answers}, differences = ${differences}`,
  }
}

const noteIn = ({ text }: Page): string => textOf(/<p class="note">.*?<\/p>/s.exec(text)?.[0] ?? '')

test('a dashboard says how many of its answers were recounted, and whether some differed', async (t) => {
  const { console, siteId, postgres, dashboard, recounted } = await openSite(t)
  const viewer = await console.signedIn('viewer')
  assert.doesNotMatch(noteIn(await viewer.get(dashboard)), /recounted/)

  await recounted(12_480, 0)
  const line = /12,480 answers of this site were recounted from raw events since 1 Nov; none differed\.$/
  assert.match(noteIn(await viewer.get(dashboard)), line)
  assert.match(noteIn(await viewer.get(`${dashboard}?more=page`)), line)

  await recounted(12_500, 2)
  await postgres`
    INSERT INTO recount_differences (site_id, day, question, request, differing, recounted, answered)
    VALUES (${siteId}, '2026-11-13', '{}', '/api/v1/stats/pages', '[]', 'SELECT 1', 'SELECT 2')`
  assert.match(
    noteIn(await viewer.get(dashboard)),
    /12,500 answers of this site were recounted from raw events since 1 Nov; 2 differed and 1 still does: it is being repaired\.$/,
  )
  await postgres`UPDATE recount_differences SET repaired_at = now()`
  assert.match(noteIn(await viewer.get(dashboard)), /; 2 differed and were repaired\.$/)
  await recounted(1, 1)
  assert.match(noteIn(await viewer.get(dashboard)), /; 1 differed and was repaired\.$/)
})

test('the day is that of the site, and a shared link does not say it', async (t) => {
  const { console, postgres, siteId, site, dashboard, recounted } = await openSite(t)
  await recounted(1, 0)
  await postgres`UPDATE sites SET time_zone = 'America/New_York' WHERE id = ${siteId}`
  console.api.directory.forget(siteId)
  const viewer = await console.signedIn('viewer')
  assert.match(
    noteIn(await viewer.get(dashboard)),
    /1 answer of this site was recounted from raw events since 31 Oct; none differed\.$/,
  )
  const nonce = randomBytes(16).toString('base64url')
  const link = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: true, filters: [], nonce }
  const token = await addSharedLink(postgres, keySecrets, { actor: 'maria@example.com' }, site, link)
  const page = await console.stranger().get(`/share/${token}`)
  assert.equal(page.status, 200)
  assert.doesNotMatch(noteIn(page), /recounted/)
})
