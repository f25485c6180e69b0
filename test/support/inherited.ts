/** What every process of a test gets, whatever else its environment holds. */
export const inherited: Record<string, string> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE', 'FOOTFALL_DEADLINE_FACTOR'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)
