// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of what is derived from a hit: its origin, device, country, and whether it is a bot. */
export const collectorEnrichSource: readonly Mutation[] = [
  {
    name: 'house: folders of the collector import each other',
    file: 'src/collector/enrich/bots.ts',
    find: "import { isbot } from 'isbot'\n",
    replace: "import { isbot } from 'isbot'\nimport '../http/limits.ts'\n",
    caughtBy: 'test/house/imports.test.ts',
  },
  {
    name: 'bots: a client without a user agent is a person',
    file: 'src/collector/enrich/bots.ts',
    find: "userAgent.trim() === '' || isbot(userAgent)",
    replace: 'isbot(userAgent)',
    caughtBy: 'test/collector/enrich/device.test.ts',
  },
  {
    name: 'channel: the mark of a paid click is ignored',
    file: 'src/collector/enrich/channel.ts',
    find: "const isPaid = source.clickId !== '' || paidMedium",
    replace: 'const isPaid = paidMedium',
    caughtBy: 'test/collector/enrich/channel.test.ts',
  },
  {
    name: 'channel: any domain can look like Google',
    file: 'src/collector/enrich/channel.ts',
    find: '(countryEnding.test(ending) ? kindsOfDomains.get(`${labels[first]}.*`) : undefined)',
    replace: 'kindsOfDomains.get(`${labels[first]}.*`)',
    caughtBy: 'test/collector/enrich/channel.test.ts',
  },
  {
    name: 'channel: Display outranks Paid Video',
    file: 'src/collector/enrich/channel.ts',
    find: "  if (isPaid && kind === 'video') return 'Paid Video'\n  if (displayMedium.test(medium)) return 'Display'\n",
    replace:
      "  if (displayMedium.test(medium)) return 'Display'\n  if (isPaid && kind === 'video') return 'Paid Video'\n",
    caughtBy: 'test/collector/enrich/channel.test.ts',
  },
  {
    name: 'country: mapped addresses are not located',
    file: 'src/collector/enrich/country.ts',
    find: 'const address = unmapped(ip)',
    replace: 'const address = ip',
    caughtBy: 'test/collector/enrich/country.test.ts',
  },
  {
    name: 'country: a broken file is reported at every poll',
    file: 'src/collector/enrich/country.ts',
    find: '      version = seen // also for a broken file, so that it is reported once and not every minute\n      try {\n        reader = await load(file)\n',
    replace: '      try {\n        reader = await load(file)\n        version = seen\n',
    caughtBy: 'test/collector/enrich/country.test.ts',
  },
  {
    name: 'country: an IPv6 address is looked up in an IPv4 file',
    file: 'src/collector/enrich/country.ts',
    find: ' || (family === 6 && reader.metadata.ipVersion === 4)',
    replace: '',
    caughtBy: 'test/collector/enrich/country.test.ts',
  },
  {
    name: 'device: a television is a tablet',
    file: 'src/collector/enrich/device.ts',
    find: "userAgent === '' || television.test(userAgent)",
    replace: "userAgent === ''",
    caughtBy: 'test/collector/enrich/device.test.ts',
  },
  {
    name: 'source: the site is its own referrer when it has www.',
    file: 'src/collector/enrich/source.ts',
    find: 'const own = bareHost(hostname)',
    replace: 'const own = hostname',
    caughtBy: 'test/collector/enrich/source.test.ts',
  },
  {
    name: 'source: control characters stay in a UTM tag',
    file: 'src/collector/enrich/source.ts',
    find: "value.replace(/\\p{Cc}/gu, '').slice",
    replace: 'value.slice',
    caughtBy: 'test/collector/enrich/source.test.ts',
  },
  {
    name: 'hostnames: an allowed subdomain is a referrer',
    file: 'src/collector/enrich/source.ts',
    find: ' || (allowSubdomains && host.endsWith(`.${own}`))',
    replace: '',
    caughtBy: 'test/collector/enrich/source.test.ts',
  },
]
