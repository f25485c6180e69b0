/** What every process of a test gets, whatever else its environment holds. */
export const inherited: Record<string, string> = {
  FOOTFALL_NO_ENV_FILE: '1', // the settings of a developer or of this machine are not those of a test
  ...Object.fromEntries(
    ['PATH', 'NODE_COMPILE_CACHE', 'FOOTFALL_DEADLINE_FACTOR'].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  ),
}
