// A site in Berlin with a few hits, whose numbers tests work out by hand. It is Thursday, 19 November 2026, 11:36 there.
import { randomBytes, randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addSharedLink } from '../../src/users/shared-links.ts'
import { eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole } from './console.ts'

const timeZone = 'Europe/Berlin'

const hits = [
  // The first event of the site.
  pageview({ at: '2025-10-10T08:00:00Z', visitor: 'a', country: 'FR' }),
  pageview({ at: '2025-11-14T08:00:00Z', visitor: 'a' }),
  // At half past two twice: the clocks go back at three.
  pageview({ at: '2026-10-25T00:30:00Z', visitor: 'a' }),
  pageview({ at: '2026-10-25T01:30:00Z', visitor: 'b' }),
  // Thursday, 15:10 in Berlin.
  pageview({ at: '2026-11-12T14:10:00Z', visitor: 'a' }),
  pageview({ at: '2026-11-17T10:00:00Z', visitor: 'a' }),
  pageview({ at: '2026-11-18T09:30:00Z', visitor: 'a' }),
  pageview({ at: '2026-11-18T20:00:00Z', visitor: 'b' }),
  // Today at 11:05.
  pageview({ at: '2026-11-19T10:05:00Z', visitor: 'a' }),
]

export async function openRangesSite(t: TestContext) {
  const console = await openConsole(t, { now: '2026-11-19T10:36:00Z' })
  const { stores, accountId } = console
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(stores.postgres, { accountId, domain, timeZone })
  const events = hits.map((hit) => eventOf(hit, siteId, timeZone))
  await recordBatch(stores.clickhouse, { id: randomUUID(), events })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key' })
  const member = await console.signedIn('viewer')
  return {
    console,
    path: `/sites/${domain}`,
    get: (query: string) => member.get(`/sites/${domain}?${query}`),
    at: (address: string) => member.get(address),
    /** The answer of the API to a command that the page offers. */
    async run(question: string) {
      const answer = await console.api.fetch(question, { headers: { Authorization: `Bearer ${key.text}` } })
      if (answer.status !== 200) throw new Error(`${question} answered ${answer.status} ${answer.text}`)
      return answer
    },
    async share(...filters: string[]): Promise<string> {
      const site = (await findSite(stores.postgres, siteId)) as Site
      const nonce = randomBytes(16).toString('base64url')
      const link = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: false, filters, nonce }
      return `/share/${await addSharedLink(stores.postgres, keySecrets, { actor: 'maria@example.com' }, site, link)}`
    },
  }
}
