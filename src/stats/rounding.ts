// All rounding rules. They work on integers, so that no answer depends on binary fractions (decisions D-12 to D-15).

/** numerator / denominator to the nearest integer, halves up; 0 if the denominator is 0. */
export const halfUp = (numerator: number, denominator: number): number =>
  denominator === 0 ? 0 : Math.floor((2 * numerator + denominator) / (2 * denominator))

/** Percentage change between two printed numbers: one decimal, halves away from zero; null if the previous number is 0. */
export function percentChange(current: number, previous: number): number | null {
  if (previous === 0) return null
  const tenths = halfUp(Math.abs(current - previous) * 1000, previous)
  return tenths === 0 ? 0 : (Math.sign(current - previous) * tenths) / 10
}
