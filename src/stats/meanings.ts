import type { Metrics } from './reports/overview.ts'

/** What each metric counts, in one sentence. docs/metrics.md has the same sentences; a test compares them. */
export const meanings: Readonly<Record<keyof Metrics, string>> = {
  visitors: 'People who used the site. A visitor is counted once per day, so a range has the sum of its days.',
  pageviews: 'Pages that were looked at. One look at one page by one person is one pageview.',
  sessions: 'Visits that started in the period. A pause of more than 30 minutes or midnight begins a new one.',
  bounce_rate: 'Share of sessions with exactly one pageview and no custom event.',
  avg_duration:
    'Mean time from the first to the last event of a session. A session with one event counts as 0 seconds.',
}
