import { custom, pageview } from '../support/events.ts'

const fromNews = { referrer: 'x.com', channel: 'Referral', utmSource: 'news', title: 'Home' } as const
const reader = { visitor: 'bob', pathname: '/docs', country: 'FR', device: 'Mobile' } as const

/** In the last days before `noon`: two visitors from a newsletter, one of whom signs up, and a reader of the documentation. */
export const hits = [
  pageview({ at: '2026-11-14T10:00:00Z', visitor: 'ann', ...fromNews }),
  custom('signup', { at: '2026-11-14T10:00:09Z', visitor: 'ann', ...fromNews }),
  pageview({ at: '2026-11-14T11:00:00Z', visitor: 'amy', ...fromNews }),
  pageview({ at: '2026-11-13T09:00:00Z', ...reader }),
  pageview({ at: '2026-11-13T09:00:30Z', ...reader }),
  pageview({ at: '2026-11-13T09:01:00Z', ...reader }),
]
