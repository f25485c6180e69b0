// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of parameters and query strings. */
export const apiParameters: readonly Mutation[] = [
  {
    name: 'parameters: limit may be 999',
    file: 'src/stats/parameters.ts',
    find: '|| Number(text) > most',
    replace: '|| Number(text) > 999',
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'parameters: the first of repeated values is used',
    file: 'src/stats/parameters.ts',
    find: "  if (values.length > 1) throw new ApiError('invalid_parameter', `${name} may be sent only once.`)\n",
    replace: '',
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'parameters: dates are checked before the other parameters',
    file: 'src/stats/parameters.ts',
    find: "  const range = one(query, 'range', readRange)",
    replace: "  oneDate(query, 'start')\n  const range = one(query, 'range', readRange)",
    caughtBy: 'test/contract/order-of-checks.test.ts',
  },
  {
    name: 'parameters: unsupported filters are reported after invalid ones',
    file: 'src/stats/parameters.ts',
    find: '  refuseUnsupportedFilters(query)\n  refuseVariants(query, accepted.names)\n',
    replace:
      "  one(query, 'limit', (text) => readLimit(text, 100))\n  refuseUnsupportedFilters(query)\n  refuseVariants(query, accepted.names)\n",
    caughtBy: 'test/contract/order-of-checks.test.ts',
  },
  {
    name: 'parameters: an unknown one gets no warning',
    file: 'src/stats/parameters.ts',
    find: '.filter((name) => !(names as readonly string[]).includes(name))',
    replace: '.filter(() => false)',
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'fuzz: an unsupported filter without a value is accepted',
    file: 'src/stats/parameters.ts',
    find: 'if (unsupported.includes(plainName(name)))',
    replace: 'if (unsupported.includes(plainName(name)) && query.get(name)?.[0])',
    caughtBy: 'check:fuzz -- --n 30000',
  },
  {
    name: 'fuzz: the first of two values is used',
    file: 'src/stats/parameters.ts',
    find: "  if (values.length > 1) throw new ApiError('invalid_parameter', `${name} may be sent only once.`)\n",
    replace: '',
    caughtBy: 'check:fuzz -- --n 30000',
  },
  {
    name: 'fuzz: an unknown parameter causes an internal error',
    file: 'src/stats/parameters.ts',
    find: 'if (!ascii.test(text) || !isCountryCode(code)) {',
    replace: "if (text.includes('%')) throw new Error('percent')\n  if (!ascii.test(text) || !isCountryCode(code)) {",
    caughtBy: 'check:fuzz -- --n 30000',
  },
  {
    name: 'contract: a parameter in brackets is ignored',
    file: 'src/stats/parameters.ts',
    find: "name.endsWith(']') ? name.indexOf('[') : -1",
    replace: "name.endsWith('[') ? name.indexOf('[') : -1",
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'contract: a parameter in another case is ignored',
    file: 'src/stats/parameters.ts',
    find: 'name.slice(0, bracket)).toLowerCase()',
    replace: 'name.slice(0, bracket))',
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'contract: a value that cannot be decoded counts as missing',
    file: 'src/stats/parameters.ts',
    find: '  if (value === null) {\n',
    replace: '  if (value === null && !name) {\n',
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'contract: a time of day without effect is not reported',
    file: 'src/stats/parameters.ts',
    find: 'else if (value && dateTime.test(value))',
    replace: "else if (value && dateTime.test(value) && name === '')",
    caughtBy: 'test/contract/parameters-in-effect.test.ts',
  },
  {
    name: 'contract: a date needs its hyphens',
    file: 'src/stats/parameters.ts',
    find: '-\\d{2}-\\d{2}|\\d{8})$/',
    replace: '-\\d{2}-\\d{2})$/',
    caughtBy: 'test/stats/parameters.test.ts',
  },
  {
    name: 'query string: an invalid escape is an empty value',
    file: 'src/stats/query-string.ts',
    find: 'return null',
    replace: "return ''",
    caughtBy: 'test/stats/query-string.test.ts',
  },
  {
    name: 'fuzz: a value that cannot be decoded is used as written',
    file: 'src/stats/query-string.ts',
    find: '    return null\n',
    replace: '    return text\n',
    caughtBy: 'check:fuzz -- --n 30000',
  },
]
