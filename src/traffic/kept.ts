import type { Postgres } from '../stores/postgres.ts'

/** The first day whose events are kept, `YYYY-MM-DD`: nothing is written for a day before it (decision D-80). */
export async function eventsKeptFrom(postgres: Postgres): Promise<string> {
  const [row] = await postgres<[{ kept_from: string }]>`SELECT kept_from::text FROM retention`
  return row.kept_from
}
