/** Random numbers from a seed, for decisions made once per day. ClickHouse draws those made once per visit. */
export interface Random {
  /** From 0 to below 1. */
  uniform(): number
  between(low: number, high: number): number
  /** An integer from 0 to below the bound. */
  below(bound: number): number
  pick<Value>(from: readonly Value[]): Value
  /** Mean 0, standard deviation 1. */
  normal(): number
}

/** splitmix32: short and well mixed. Never use it for a secret. */
export function seeded(seed: number): Random {
  let state = seed | 0
  const uniform = () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(uniform() * bound)
  return {
    uniform,
    between: (low, high) => low + (high - low) * uniform(),
    below,
    pick: (from) => from[below(from.length)]!,
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  }
}
