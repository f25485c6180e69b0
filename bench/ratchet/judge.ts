// Which ratios are worse than the best known ones (bench/ratchet.json).

/** The best ratio of a kind, and the commit that reached it. */
export interface Best {
  ratio: number
  commit: string
}

export type Ratios = Readonly<Record<string, number>>

/** Ratios vary by some percent from run to run. */
const tolerated = 1.15

/** The names of the ratios that are worse than known. A ratio without a known one is not. */
export const worseThan = (best: Readonly<Record<string, Best>>, ratios: Ratios): string[] =>
  Object.entries(ratios).flatMap(([name, ratio]) => (ratio > (best[name]?.ratio ?? ratio) * tolerated ? [name] : []))

/** The best ones after a run at this commit. */
export const improved = (
  best: Readonly<Record<string, Best>>,
  ratios: Ratios,
  commit: string,
): Readonly<Record<string, Best>> => ({
  ...best,
  ...Object.fromEntries(
    Object.entries(ratios)
      .filter(([name, ratio]) => ratio < (best[name]?.ratio ?? Number.POSITIVE_INFINITY))
      .map(([name, ratio]) => [name, { ratio, commit }]),
  ),
})
