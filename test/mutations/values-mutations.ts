// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const collector = (name: string) => `test/collector/${name}.test.ts`

/** Breakages of the limits of values, of host names, and of what counting today may take. */
export const valuesMutations: Mutation[] = [
  {
    name: 'values: earlier ones are not known',
    file: 'src/collector/value-limits.ts',
    find: "if (value === '' || known.values.has(value)) return value",
    replace: "if (value === '') return value",
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: any number of new ones',
    file: 'src/collector/value-limits.ts',
    find: 'if (cost > known.left) {',
    replace: 'if (cost > known.left + 1_000_000) {',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: a long one counts as one',
    file: 'src/collector/value-limits.ts',
    find: 'Math.ceil(value.length / charactersOfOne)',
    replace: 'Math.min(1, value.length)',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: a restart begins the day again',
    file: 'src/collector/value-limits.ts',
    find: 'if (values.add(value) && isNew) used',
    replace: 'if (values.add(value) && isNew && value.length > 1_000) used',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: earlier ones that could not be read are never asked for again',
    file: 'src/collector/value-limits.ts',
    find: 'site.readAt = now() + retryMs',
    replace: 'site.readAt = Number.POSITIVE_INFINITY',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: until the earlier ones are read, any number may come',
    file: 'src/collector/value-limits.ts',
    find: 'left: 2 * limits[column].fresh',
    replace: 'left: 1_000_000',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: any number of them is remembered',
    file: 'src/collector/value-limits.ts',
    find: 'if (values <= most) return',
    replace: 'if (values <= 1_000 * most) return',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: those of yesterday are limited with those of today',
    file: 'src/collector/value-limits.ts',
    find: 'if (site && site.day !== day) {',
    replace: 'if (site && site.day > day) {',
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: sites of days that are over are remembered',
    file: 'src/collector/value-limits.ts',
    find: 'if (day < oldest) counted.delete(siteId)',
    replace: "if (day < '1970') counted.delete(siteId)",
    caughtBy: collector('value-limits'),
  },
  {
    name: 'values: a referrer that may not be recorded has no channel',
    file: 'src/collector/intake.ts',
    find: 'channel: classifyChannel({ referrer, utmSource, ...tags }),',
    replace:
      "channel: classifyChannel({ referrer: limits ? limits.nameOf('referrer', referrer) : referrer, utmSource, ...tags }),",
    caughtBy: collector('value-limits-flow'),
  },
  {
    name: 'values: (other) has the title of the last page in it',
    file: 'src/collector/intake.ts',
    find: "  if (pathname !== event.pathname) event.title = ''\n",
    replace: '',
    caughtBy: collector('value-limits-flow'),
  },
  {
    name: 'values: sources are not limited',
    file: 'src/collector/intake.ts',
    find: "utmSource: limits ? limits.nameOf('source', utmSource) : utmSource,",
    replace: 'utmSource,',
    caughtBy: collector('value-limits-flow'),
  },
  {
    name: 'values: what came today for the first time is taken for old',
    file: 'src/collector/earlier-values.ts',
    find: 'isNew: is_new === 1',
    replace: 'isNew: is_new === 2',
    caughtBy: collector('value-limits-flow'),
  },
  {
    name: 'hostnames: everything below is allowed, whatever the owner says',
    file: 'src/collector/intake.ts',
    find: '(allowSubdomains && hostname.endsWith(`.${own}`))',
    replace: 'hostname.endsWith(`.${own}`)',
    caughtBy: collector('intake'),
  },
  {
    name: 'hostnames: www. has to be listed',
    file: 'src/collector/intake.ts',
    find: ' || hostname === `www.${own}`',
    replace: '',
    caughtBy: collector('intake'),
  },
  {
    name: 'hostnames: a subdomain that is allowed is a referrer',
    file: 'src/collector/source.ts',
    find: ' || (allowSubdomains && host.endsWith(`.${own}`))',
    replace: '',
    caughtBy: collector('source'),
  },
  {
    name: 'restore: a backup of before a column was added cannot be restored',
    file: 'src/cli/backup.ts',
    find: 'INSERT INTO ${postgres(table)} (${columns}) SELECT ${columns} FROM',
    replace: 'INSERT INTO ${postgres(table)} SELECT * FROM',
    caughtBy: 'test/cli/backup.test.ts',
  },
  {
    name: 'open days: a count that takes long is followed by the next at once',
    file: 'src/folding/open-days.ts',
    find: 'Math.max(everyMs, restPerCount * (clock() - begun))',
    replace: 'everyMs',
    caughtBy: 'test/folding/open-days.test.ts',
  },
  {
    name: 'open days: a count takes as much memory as it likes',
    file: 'src/folding/open-days.ts',
    find: 'max_memory_usage: `${mostBytes}`',
    replace: 'max_memory_usage: `${1_000_000 * mostBytes}`',
    caughtBy: 'test/folding/open-days.test.ts',
  },
  {
    name: 'folding: a day that does not fit into memory at once is not folded',
    file: 'src/folding/fold.ts',
    find: 'if (atOnce && isOutOfMemory(error)) return fold(false)',
    replace: 'if (atOnce && isOutOfMemory(error)) throw error',
    caughtBy: 'test/folding/memory.test.ts',
  },
]
