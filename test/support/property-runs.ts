/**
 * How many runs a property test makes: a tenth of those given, but at least as many as fast-check makes by default. All of them with
 * FOOTFALL_FULL=1, every night.
 */
export const runs = (all: number): { numRuns: number } => ({
  numRuns: process.env.FOOTFALL_FULL ? all : Math.max(100, all / 10),
})
