// Hosts that send fake visits to appear in referrer lists. The list is short on purpose: it has only hosts known for nothing else.
const spam = new Set([
  '4webmasters.org',
  'best-seo-offer.com',
  'best-seo-solution.com',
  'blackhatworth.com',
  'buttons-for-website.com',
  'buttons-for-your-website.com',
  'buy-cheap-online.info',
  'darodar.com',
  'econom.co',
  'event-tracking.com',
  'floating-share-buttons.com',
  'free-share-buttons.com',
  'free-social-buttons.com',
  'get-free-traffic-now.com',
  'guardlink.org',
  'hulfingtonpost.com',
  'humanorightswatch.org',
  'ilovevitaly.com',
  'make-money-online.7makemoneyonline.com',
  'o-o-6-o-o.com',
  'priceg.com',
  'ranksonic.info',
  'semalt.com',
  'simple-share-buttons.com',
  'social-buttons.com',
  'success-seo.com',
  'traffic2money.com',
  'trafficmonetize.org',
  'videos-for-your-business.com',
  'webmonetizer.net',
])

/** Matches the host itself and its subdomains. */
export function isSpam(host: string): boolean {
  for (let rest = host; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (spam.has(rest)) return true
    if (!rest.includes('.')) return false
  }
  return false
}
