// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const collector = (name: string) => `test/collector/${name}.test.ts`

/** Breakages of what is read from a hit: where it came from, on what, from where, and whether it was a person. */
export const trackerMutations: Mutation[] = [
  {
    name: 'channel: the mark of a paid click means nothing',
    file: 'src/collector/channel.ts',
    find: "const isPaid = source.clickId !== '' || paidMedium",
    replace: 'const isPaid = paidMedium',
    caughtBy: collector('channel'),
  },
  {
    name: 'channel: anybody can be Google',
    file: 'src/collector/channel.ts',
    find: '(countryEnding.test(ending) ? kindsOfDomains.get(`${labels[first]}.*`) : undefined)',
    replace: 'kindsOfDomains.get(`${labels[first]}.*`)',
    caughtBy: collector('channel'),
  },
  {
    name: 'channel: Display outranks Paid Video',
    file: 'src/collector/channel.ts',
    find: "  if (isPaid && kind === 'video') return 'Paid Video'\n  if (displayMedium.test(medium)) return 'Display'\n",
    replace:
      "  if (displayMedium.test(medium)) return 'Display'\n  if (isPaid && kind === 'video') return 'Paid Video'\n",
    caughtBy: collector('channel'),
  },
  {
    name: 'source: the site is its own referrer when it is spelled with www.',
    file: 'src/collector/source.ts',
    find: 'const own = bareHost(hostname)',
    replace: 'const own = hostname',
    caughtBy: collector('source'),
  },
  {
    name: 'source: control characters stay in a tag',
    file: 'src/collector/source.ts',
    find: "value.replace(/\\p{Cc}/gu, '').slice",
    replace: 'value.slice',
    caughtBy: collector('source'),
  },
  {
    name: 'device: a television is a tablet',
    file: 'src/collector/device.ts',
    find: "userAgent === '' || television.test(userAgent)",
    replace: "userAgent === ''",
    caughtBy: collector('device'),
  },
  {
    name: 'bots: who says nothing is a person',
    file: 'src/collector/bots.ts',
    find: "userAgent.trim() === '' || isbot(userAgent)",
    replace: 'isbot(userAgent)',
    caughtBy: collector('device'),
  },
  {
    name: 'country: mapped addresses are not placed',
    file: 'src/collector/country.ts',
    find: 'const address = unmapped(ip)',
    replace: 'const address = ip',
    caughtBy: collector('country'),
  },
  {
    name: 'country: a broken file is complained about at every look',
    file: 'src/collector/country.ts',
    find: '      version = seen // also of a broken file: it is said once, not every minute\n      try {\n        reader = await load(file)\n',
    replace: '      try {\n        reader = await load(file)\n        version = seen\n',
    caughtBy: collector('country'),
  },
  {
    name: 'country: an IPv6 address is looked up in a file of IPv4',
    file: 'src/collector/country.ts',
    find: ' || (family === 6 && reader.metadata.ipVersion === 4)',
    replace: '',
    caughtBy: collector('country'),
  },
  {
    name: 'tracker: a prerendered page counts before it is shown',
    file: 'src/collector/tracker/footfall.js',
    find: 'if (document.prerendering) {',
    replace: 'if (false) {',
    caughtBy: 'test/tracker/page-lifecycle.test.ts',
  },
  {
    name: 'tracker: a page that comes back is not viewed again',
    file: 'src/collector/tracker/footfall.js',
    find: 'if (!persisted) return',
    replace: 'return',
    caughtBy: 'test/tracker/page-lifecycle.test.ts',
  },
  {
    name: 'tracker: another attempt is another event',
    file: 'src/collector/tracker/footfall.js',
    find: 'setTimeout(post, wait, body, wait * 5)',
    replace: 'setTimeout(post, wait, JSON.stringify({ ...JSON.parse(body), id: uuid() }), wait * 5)',
    caughtBy: 'test/tracker/browser.test.ts',
  },
  {
    name: 'tracker: the whole query is sent',
    file: 'src/collector/tracker/footfall.js',
    find: '/^(utm_(source|medium|campaign)|ref|source|gclid|[gw]braid|msclkid)$/.test(name)',
    replace: 'name',
    caughtBy: 'test/tracker/browser.test.ts',
  },
  {
    name: 'tracker: a change of the query is a view',
    file: 'src/collector/tracker/footfall.js',
    find: 'path() === counted) return',
    replace: 'page() === counted) return',
    caughtBy: 'test/tracker/browser.test.ts',
  },
  {
    name: 'import: a batch in doubt is sent again without looking',
    file: 'src/collector/import/job.ts',
    find: 'isDoubtful ? await missingOf(clickhouse, batch) : batch.events',
    replace: 'isDoubtful && (await missingOf(clickhouse, batch)).length < 0 ? [] : batch.events',
    caughtBy: collector('import'),
  },
  {
    name: 'import: two days can be linked',
    file: 'src/collector/import/events.ts',
    find: "createHmac('sha256', salt).update(day).digest()",
    replace: "createHmac('sha256', salt).update(site.id).digest()",
    caughtBy: collector('import'),
  },
  {
    name: 'import: the salt stays',
    file: 'src/collector/import/job.ts',
    find: 'SET salt = NULL, finished_at = now()',
    replace: 'SET batches_done = batches_done',
    caughtBy: collector('import'),
  },
  {
    name: 'import: nobody is told of days that were folded',
    file: 'src/collector/import/job.ts',
    find: 'Array.from(days, (day) => ({ siteId: site.id, day })),',
    replace: 'Array.from(days, (day) => ({ siteId: site.id, day })).slice(days.size),',
    caughtBy: collector('import'),
  },
]
