// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of sessions and the tracker. */
export const collectorVisits: readonly Mutation[] = [
  {
    name: 'sessions: Redis splits a session at exactly 1,800 s',
    file: 'src/collector/sessions/redis-sessions.ts',
    find: 'tonumber(ARGV[1]) - last <= ${sessionGapMs}',
    replace: 'tonumber(ARGV[1]) - last < ${sessionGapMs}',
    caughtBy: 'test/collector/sessions/sessions.test.ts',
  },
  {
    name: 'sessions: without Redis a hit is refused',
    file: 'src/collector/sessions/redis-sessions.ts',
    find: '      } catch {\n        return own // a hit is accepted without Redis; the circuit breaker logs the outage once\n',
    replace: '      } catch (error) {\n        throw error\n',
    caughtBy: 'test/collector/sessions/sessions.test.ts',
  },
  {
    name: 'sessions: a start reads only ClickHouse, not the spool',
    file: 'src/collector/sessions/restored-sessions.ts',
    find: 'if (event.time < since || hits.length === mostHits) return hits',
    replace: 'if (event.time >= since || hits.length === mostHits) return hits',
    caughtBy: 'test/collector/outages.test.ts',
  },
  {
    name: 'sessions: a gap of exactly 1,800 s splits a session',
    file: 'src/collector/sessions/session.ts',
    find: 'time - lastAt <= sessionGapMs',
    replace: 'time - lastAt < sessionGapMs',
    caughtBy: 'test/collector/sessions/sessions.test.ts',
  },
  {
    name: 'sessions: a gap of 1,801 s does not split a session',
    file: 'src/collector/sessions/session.ts',
    find: 'export const sessionGapMs = 1_800_000',
    replace: 'export const sessionGapMs = 1_801_000',
    caughtBy: 'test/collector/sessions/sessions.test.ts',
  },
  {
    name: 'tracker: a prerendered page counts before it is shown',
    file: 'src/tracker/footfall.js',
    find: 'if (document.prerendering) {',
    replace: 'if (false) {',
    caughtBy: 'test/collector/tracker/page-lifecycle.test.ts',
  },
  {
    name: 'tracker: a page restored from the back/forward cache is not a view',
    file: 'src/tracker/footfall.js',
    find: 'if (!persisted) return',
    replace: 'return',
    caughtBy: 'test/collector/tracker/page-lifecycle.test.ts',
  },
  {
    name: 'tracker: a repeated attempt is another event',
    file: 'src/tracker/footfall.js',
    find: 'setTimeout(post, wait, body, wait * 5)',
    replace: 'setTimeout(post, wait, JSON.stringify({ ...JSON.parse(body), id: uuid() }), wait * 5)',
    caughtBy: 'test/collector/tracker/browser.test.ts',
  },
  {
    name: 'tracker: the whole query string is sent',
    file: 'src/tracker/footfall.js',
    find: '/^(utm_(source|medium|campaign)|ref|source|gclid|[gw]braid|msclkid)$/.test(name)',
    replace: 'name',
    caughtBy: 'test/collector/tracker/browser.test.ts',
  },
  {
    name: 'tracker: a change of the query string is a view',
    file: 'src/tracker/footfall.js',
    find: 'path() === counted) return',
    replace: 'page() === counted) return',
    caughtBy: 'test/collector/tracker/browser.test.ts',
  },
  {
    name: 'limits: the tracker repeats events over a limit',
    file: 'src/tracker/footfall.js',
    find: 'status < 500 ||',
    replace: '(status < 500 && status !== 429) ||',
    caughtBy: 'test/collector/tracker/browser.test.ts',
  },
]
