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
    find: 'bareHost(hostname) === host',
    replace: 'hostname === host',
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
]
