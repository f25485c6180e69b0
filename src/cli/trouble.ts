import { CommandError } from './command.ts'

/** What went wrong, in words that say what to do next. */
export function explain(error: Error): { message: string; hint: string } {
  if (error instanceof CommandError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const known = troubles[code]
  if (known) return { message: `${known[0]} (${error.message})`, hint: known[1] }
  if (error.message.startsWith('The configuration is not usable')) {
    return {
      message: error.message,
      hint: 'docs/configuration.md describes every setting; footfall secret create makes KEY_SECRETS.',
    }
  }
  return { message: error.message, hint: 'footfall doctor checks configuration, connections and databases.' }
}

const troubles: Record<string, [message: string, hint: string]> = {
  ECONNREFUSED: [
    'A database does not answer.',
    'Check that it runs, and DATABASE_URL and CLICKHOUSE_URL; footfall doctor says which one it is.',
  ],
  CONNECT_TIMEOUT: ['PostgreSQL does not answer.', 'Check DATABASE_URL, and that the server runs.'],
  ENOTFOUND: ['A database host has no address.', 'Check the host names in DATABASE_URL and CLICKHOUSE_URL.'],
  '3D000': ['The PostgreSQL database does not exist.', 'Run: footfall migrate'],
  '28P01': ['PostgreSQL refuses the password.', 'Check the user and password in DATABASE_URL.'],
  '42P01': ['The PostgreSQL tables are missing.', 'Run: footfall migrate'],
  '23503': ['What this refers to does not exist.', 'Check the ids: footfall account list, footfall site list'],
  '81': ['The ClickHouse database does not exist.', 'Run: footfall migrate'],
  '60': ['The ClickHouse tables are missing.', 'Run: footfall migrate'],
  '516': ['ClickHouse refuses the user or password.', 'Check the user and password in CLICKHOUSE_URL.'],
}
