/** Random numbers from a printed seed: the same words give the same world on any machine. */
export interface Random {
  /** An integer from 0 to below the bound. */
  below(bound: number): number
  /** True with a probability of 1 in `times`. */
  oneIn(times: number): boolean
  pick<T>(from: readonly T[]): T
  /** `count` different items, or all if there are fewer. */
  sample<T>(from: readonly T[], count: number): T[]
  /** A 64-bit integer in decimal. */
  id(): string
  uuid(): string
}

/** FNV-1a over the characters of the seed starts a splitmix32: short, well mixed, and unsuitable for secrets. */
export function seeded(seed: string): Random {
  let state = 0x811c9dc5
  for (const character of seed) state = Math.imul(state ^ character.codePointAt(0)!, 0x01000193)

  const next = (): number => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const hex = (): string => next().toString(16).padStart(8, '0')
  const below = (bound: number): number => Math.floor((next() / 2 ** 32) * bound)

  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (from) => from[below(from.length)]!,
    sample: (from, count) => {
      const left = [...from]
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)[0]!)
    },
    id: () => ((BigInt(next()) << 32n) | BigInt(next())).toString(),
    uuid: () => {
      const digits = hex() + hex() + hex() + hex()
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`
    },
  }
}
