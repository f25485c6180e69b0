import type { Mutation } from './mutations.ts'

/** Breakages of what moves: readings of a site, streams, and open dashboards. */
export const live: readonly Mutation[] = [
  {
    name: 'live: excluded countries are shown',
    file: 'src/stats/live.ts',
    find: 'const scope = { siteId: id, filters: {}, excludedCountries }',
    replace: 'const scope = { siteId: id, filters: {}, excludedCountries: [], all: excludedCountries }',
    caughtBy: 'test/stats/live.test.ts',
  },
  {
    name: 'live: every page reads the site once more',
    file: 'src/stats/live.ts',
    find: 'startedAt - last.startedAt < everyMs',
    replace: 'startedAt - last.startedAt < 0',
    caughtBy: 'test/stats/live.test.ts',
  },
  {
    name: 'live: the stream of a key that is disabled goes on',
    file: 'src/api/live-route.ts',
    find: 'await resolveSite(await identify(request, gatekeepers), request.queryString, directory)',
    replace: 'await resolveSite(request.key, request.queryString, directory)',
    caughtBy: 'test/api/live.test.ts',
  },
  {
    name: 'live: somebody who left the account watches on',
    file: 'src/users/sessions.ts',
    find: 'JOIN members ON members.user_id = user_sessions.user_id AND members.account_id = sites.account_id`',
    replace: 'JOIN members ON members.account_id = sites.account_id`',
    caughtBy: 'test/console/live.test.ts',
  },
  {
    name: 'streams: there may be any number of them',
    file: 'src/process/event-streams.ts',
    find: 'if (ofOwner.length >= maxPerOwner) return undefined',
    replace: 'if (ofOwner.length > 1_000_000 * maxPerOwner) return undefined',
    caughtBy: 'test/process/event-streams.test.ts',
  },
  {
    name: 'streams: whatever a slow reader has not read stays in memory',
    file: 'src/process/event-streams.ts',
    find: 'highWaterMark: 1,',
    replace: 'highWaterMark: 1e9,',
    caughtBy: 'test/process/event-streams.test.ts',
  },
  {
    name: 'streams: what is compressed waits for more',
    file: 'src/process/compression.ts',
    find: 'zlib.createGzip({ ...gzip, flush: constants.Z_SYNC_FLUSH })',
    replace: 'zlib.createGzip(gzip)',
    caughtBy: 'test/console/live.test.ts',
  },
  {
    name: 'serve: streams of the console go on after SIGTERM',
    file: 'src/cli/all-processes.ts',
    find: '    console.end()\n',
    replace: '',
    caughtBy: 'test/cli/serve-streams.test.ts',
  },
  {
    name: 'dashboard: every open page asks for another moment',
    file: 'src/console/dashboard/moving.ts',
    find: 'now: () => clock - (clock % everyMs)',
    replace: 'now: () => clock - (clock % 10)',
    caughtBy: 'test/console/moving.test.ts',
  },
  {
    name: 'dashboard: a hidden tab asks on',
    file: 'src/console/assets/moving.js',
    find: 'isLate = document.hidden\n',
    replace: 'isLate = false\n',
    caughtBy: 'test/console/moving.test.ts',
  },
  {
    name: 'dashboard: what moves takes the place of what was there',
    file: 'src/console/assets/moving.js',
    find: '    morph(card, fresh)\n',
    replace: '    card.innerHTML = fresh.innerHTML\n',
    caughtBy: 'test/console/moving.test.ts',
  },
]
