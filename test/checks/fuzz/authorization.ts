// Every kind of missing or invalid key, as Authorization headers.
import type { Random } from '../../support/random.ts'
import { type FuzzWorld, keyText } from './accounts.ts'
import { hostile } from './values.ts'

export function authorizationOf(random: Random, world: FuzzWorld): string[] {
  const key = random.pick([...world.plenty, ...world.refused]).text
  const at = 5 + random.below(36)
  switch (random.below(20)) {
    case 0:
      return []
    case 1: // well-formed and unknown
    case 2:
      return [`Bearer ${keyText(random, random.pick(['s', 'a']))}`]
    case 3: // one character off
      return [`Bearer ${key.slice(0, at)}${key[at] === '0' ? '1' : '0'}${key.slice(at + 1)}`]
    case 4:
      return [`Bearer ${key.slice(0, random.below(key.length))}`]
    case 5:
      return [`Bearer ${key}${random.pick(['A', '=', '0', '.', key])}`]
    case 6:
      return [`${random.pick(['Basic', 'Digest', 'Token', 'Bearerr', 'Bear', 'Bearer:', 'bearer=', ''])} ${key}`]
    case 7:
      return [
        random.pick([
          `Bearer ${key} ${key}`,
          `Bearer ${key},${key}`,
          `Bearer ${key}, Basic x`,
          `Bearer ${key}\t${key}`,
        ]),
      ]
    case 8:
      return [random.pick(['Bearer', 'Bearer ', 'bearer    ', 'Bearer ,', '', ' ', 'Bearer\t', `Bearer\t${key}`])]
    case 9:
      return [`Bearer ${random.pick(['\xe9', '\xa0', '\xff\xfe', 'ff_s_\xff'])}${key.slice(0, random.below(40))}`]
    case 10:
      return [`Bearer ${'k'.repeat(random.below(6000))}`]
    case 11:
      return [`Bearer ${key}`, `Bearer ${random.oneIn(2) ? key : 'x'}`]
    case 12:
      return [
        `${random.pick(['bearer', 'BEARER', 'bEaReR'])}${random.pick([' ', '   '])}${random.pick(world.refused).text}`,
      ]
    case 13:
      return [`Bearer ${key.replace(/^ff_(.)/, (_start, scope) => (scope === 's' ? 'ff_a' : 'ff_s'))}`]
    case 14:
      return [`Bearer ${random.pick(hostile.filter((text) => /^[\x21-\x7e]{1,300}$/.test(text)))}`]
    case 15:
      return [`Bearer ${key.toUpperCase()}`]
    default:
      return [`Bearer ${random.pick(world.refused).text}`]
  }
}
