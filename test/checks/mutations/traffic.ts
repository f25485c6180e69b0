// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of events and how they are recorded. */
export const traffic: readonly Mutation[] = [
  {
    name: 'contract: the name of a country is abbreviated',
    file: 'src/traffic/country.ts',
    find: "'Saint Lucia'",
    replace: "'St. Lucia'",
    caughtBy: 'test/traffic/country.test.ts',
  },
  {
    name: 'shipper: after a lost response everything is sent again with another token',
    file: 'src/traffic/recording.ts',
    find: "hash('sha256', `${id} ${events.map(keyOf).join(' ')}`)",
    replace: "hash('sha256', `${id} ${events.map(keyOf).join(' ')} ${Math.random()}`)",
    caughtBy: 'test/collector/shipper/ship-batch.test.ts',
  },
  {
    name: 'shipper: events in ClickHouse are recognised by the id without the site',
    file: 'src/traffic/recording.ts',
    find: '=> `${siteId} ${eventId}`',
    replace: '=> (siteId ? eventId : siteId)',
    caughtBy: 'test/collector/shipper/shipping.test.ts',
  },
  {
    name: 'shipper: a token covers only the first row and the number of rows',
    file: 'src/traffic/recording.ts',
    find: "${events.map(keyOf).join(' ')}",
    replace: '${events[0]?.eventId} ${events.length}',
    caughtBy: 'test/collector/shipper/shipping.test.ts',
  },
  {
    name: 'contract: titles are recorded without their country',
    file: 'src/traffic/recording.ts',
    find: '  pathname,\n  country,\n',
    replace: "  pathname,\n  country: country && '',\n",
    caughtBy: 'test/contract/reports/pages.test.ts',
  },
  {
    name: 'backup: its clones are not removed',
    file: 'src/traffic/snapshot.ts',
    find: '      await Promise.all(cluster.shards.map(dropClones))\n',
    replace: '',
    caughtBy: 'test/cli/backup-under-traffic.test.ts',
  },
]
