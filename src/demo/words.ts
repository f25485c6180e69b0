// The vocabulary of a demo site. The lists are ordered by popularity: a smaller site takes the beginning of each list.
import type { Channel } from '../traffic/channel.ts'
import type { CountryCode } from '../traffic/country.ts'

/** One value per line or comma keeps the long tables readable. */
export const list = (values: string): string[] =>
  values
    .split(/[,\n]/)
    .map((value) => value.trim())
    .filter(Boolean)

/** This referrer stands for the long tail of small sites, each of which has its own host. */
export const longTail = '*'

export type Source = readonly [weight: number, channel: Channel, referrer: string, utmSource: string]

/** Where sessions come from. The first lines of each kind cover all nineteen channels with ten UTM sources. */
export const sources: readonly Source[] = [
  [2600, 'Direct', '', ''],
  [2300, 'Organic Search', 'google.com', ''],
  [950, 'Referral', longTail, ''],
  [330, 'Paid Search', 'google.com', 'google'],
  [260, 'Email', '', 'newsletter'],
  [250, 'Organic Search', 'bing.com', ''],
  [220, 'Referral', 'github.com', ''],
  [210, 'AI Assistants', 'chatgpt.com', ''],
  [180, 'Organic Search', 'duckduckgo.com', ''],
  [170, 'Organic Social', 'reddit.com', ''],
  [150, 'Organic Social', 'linkedin.com', ''],
  [140, 'Organic Video', 'youtube.com', ''],
  [130, 'Organic Social', 't.co', ''],
  [120, 'Paid Social', 'facebook.com', 'facebook'],
  [110, 'Referral', 'stackoverflow.com', ''],
  [110, 'Organic Social', 'facebook.com', ''],
  [80, 'Organic Social', 'news.ycombinator.com', ''],
  [45, 'Paid Video', 'youtube.com', 'youtube'],
  [45, 'Display', 'googleads.g.doubleclick.net', 'google'],
  [45, 'Paid Shopping', 'google.com', 'google'],
  [40, 'Cross-network', 'google.com', 'google'],
  [40, 'Affiliates', 'awin1.com', 'awin'],
  [30, 'Organic Shopping', 'amazon.com', ''],
  [25, 'Audio', '', 'podcast'],
  [25, 'Paid Other', 'taboola.com', 'taboola'],
  [22, 'Mobile Push Notifications', '', 'push'],
  [18, 'SMS', '', 'sms'],
  [70, 'Organic Social', 'linkedin.com', 'linkedin'],
  [70, 'AI Assistants', 'perplexity.ai', ''],
  [60, 'AI Assistants', 'claude.ai', ''],
  [60, 'Organic Social', 'instagram.com', ''],
  [55, 'Paid Search', 'bing.com', 'bing'],
  [50, 'Paid Social', 'instagram.com', 'instagram'],
  [50, 'Referral', 'medium.com', ''],
  [45, 'Referral', 'en.wikipedia.org', ''],
  [45, 'AI Assistants', 'gemini.google.com', ''],
  [45, 'Organic Social', 'bsky.app', ''],
  [45, 'Organic Search', 'search.yahoo.com', ''],
  [40, 'Organic Search', 'ecosia.org', ''],
  [40, 'Referral', 'dev.to', ''],
  [40, 'Paid Social', 'linkedin.com', 'linkedin-ads'],
  [35, 'Referral', 'producthunt.com', 'producthunt'],
  [32, 'Email', 'mail.google.com', ''],
  [30, 'Organic Search', 'search.brave.com', ''],
  [30, 'AI Assistants', 'copilot.microsoft.com', ''],
  [30, 'Email', '', 'mailchimp'],
  [28, 'Organic Search', 'yandex.ru', ''],
  [26, 'Organic Social', 'pinterest.com', ''],
  [25, 'Organic Social', 'mastodon.social', ''],
  [25, 'Organic Search', 'baidu.com', ''],
  [25, 'Paid Other', '', 'carbon'],
  [24, 'Organic Social', 'tiktok.com', 'tiktok'],
  [22, 'Referral', 'g2.com', 'g2'],
  [20, 'Display', 'criteo.com', 'criteo'],
  [20, 'Organic Social', 'threads.com', ''],
  [18, 'Referral', 'capterra.com', 'capterra'],
  [18, 'Affiliates', '', 'partnerstack'],
  [18, 'Paid Social', 'reddit.com', 'reddit-ads'],
  [16, 'Paid Social', 't.co', 'x-ads'],
  [16, 'Email', '', 'hubspot'],
  [14, 'Referral', 'lobste.rs', ''],
  [14, 'Referral', 'substack.com', 'substack'],
  [14, 'Paid Other', 'outbrain.com', 'outbrain'],
  [12, 'Organic Search', 'startpage.com', ''],
  [12, 'Organic Video', 'vimeo.com', ''],
  [12, 'Audio', 'open.spotify.com', 'spotify'],
  [12, 'Referral', 'fosdem.org', 'conference'],
  [11, 'Mobile Push Notifications', '', 'onesignal'],
  [10, 'Organic Shopping', 'etsy.com', ''],
  [10, 'Organic Search', 'qwant.com', ''],
  [10, 'Paid Shopping', 'bing.com', 'bing-shopping'],
  [9, 'Paid Video', 'vimeo.com', 'vimeo-ads'],
  [9, 'Email', '', 'welcome-series'],
  [8, 'Organic Video', 'twitch.tv', ''],
  [8, 'Affiliates', 'impact.com', 'impact'],
  [8, 'Referral', 'zapier.com', 'partner-portal'],
  [7, 'Paid Social', 'pinterest.com', 'pinterest-ads'],
  [6, 'Paid Shopping', 'amazon.com', 'amazon-ads'],
  [6, 'SMS', '', 'twilio'],
  [5, 'Audio', '', 'audio-ads'],
  [5, 'Email', '', 'invoice'],
  [5, 'Display', '', 'dv360'],
  [4, 'Affiliates', '', 'coupon-site'],
  [4, 'Email', '', 'webinar'],
]

/** UTM sources of campaigns that last some weeks, and the pages they lead to. */
export const campaigns: readonly (readonly [utmSource: string, path: string])[] = [
  ['newsletter', '/pricing'],
  ['facebook', '/shop'],
  ['google', '/demo'],
  ['podcast', '/signup'],
  ['youtube', '/features'],
  ['awin', '/shop'],
]

/** Sites on which a page goes viral. */
export const viralReferrers = ['news.ycombinator.com', 'reddit.com', 't.co']

/** Share of visitors by country. ZZ (unknown country) is rare but comes early: every site has some. */
export const countries = list(`
  US 260, IN 82, DE 80, GB 72, FR 48, CA 42, BR 34, NL 32, AU 29, ES 25, IT 24, PL 21, JP 20, SE 17, CH 16, AT 13,
  BE 12, ZZ 4, MX 12, SG 11, TR 11, UA 10, ID 10, PT 9, DK 9, NO 9, CZ 9, KR 9, PH 8, RU 8, FI 8, IE 8, RO 8, IL 8,
  ZA 7, AR 7, VN 7, NZ 6, HK 6, TW 6, MY 6, TH 6, PK 6, CN 6, NG 6, HU 5, GR 5, AE 5, CO 5, BD 5, EG 5, CL 4, BG 4,
  KE 4, SK 4, HR 4, RS 4, LT 3, PE 3, LK 3, MA 3, SA 3, SI 3, EE 3, LV 3, BY 2, GE 2, NP 2, KZ 2, DZ 2, TN 2, LU 2,
  EC 2, GH 2, UY 2, CR 2, IR 2, JO 2, QA 1, CY 1, IS 1, AM 1, MT 1, UZ 1, VE 1, DO 1, GT 1, BA 1, AL 1, MK 1, MD 1,
  AZ 1, LB 1, KW 1, PA 1, BO 1, ET 1, UG 1, TZ 1, KH 1, MM 1, IQ 1, PY 1, OM 1, BH 1, SN 1, CM 1, CI 1, ZW 1, MU 1,
  PR 1, SV 1, HN 1, JM 1, TT 1, MN 1, ME 1, XK 1, RW 1, KG 1
`).map((entry): readonly [code: CountryCode, weight: number] => {
  const [code, weight] = entry.split(' ')
  return [code as CountryCode, Number(weight)]
})

export type CustomEvent = readonly [weight: number, name: string, path: string]

/** Custom events, and the page on which each happens. Without a path, it happens wherever the visitor is. */
export const customEvents: readonly CustomEvent[] = [
  [260, 'signup', '/signup'],
  [210, 'newsletter', '/newsletter'],
  [190, 'download', '/downloads'],
  [170, 'purchase', '/shop/checkout'],
  [150, 'outbound_click', ''],
  [140, 'add_to_cart', '/shop/cart'],
  [120, 'search', '/search'],
  [110, 'copy_code', '/docs/getting-started'],
  [95, 'video_play', ''],
  [85, 'book_demo', '/demo'],
  [75, 'contact', '/contact'],
  [70, 'login', '/login'],
  [60, 'share', ''],
  [55, 'start_trial', '/pricing'],
  [50, 'pricing_toggle', '/pricing'],
  [42, 'feedback', ''],
  [36, 'comment', ''],
  [30, 'chat_opened', ''],
  [26, 'coupon_applied', '/shop/checkout'],
  [22, 'upgrade', '/pricing'],
  [19, 'wishlist', '/shop'],
  [16, 'webinar_signup', ''],
  [14, 'job_application', '/careers'],
  [12, 'theme_toggle', ''],
  [10, 'print', ''],
  [9, 'survey', ''],
  [8, 'language_change', ''],
  [7, 'referral_sent', ''],
  [6, 'refund_request', '/contact'],
  [5, 'cancel', '/pricing'],
]

export type MainPage = readonly [path: string, title: string, laterTitle?: string]

/** The pages that every site has, most visited first. One has no title, to show how the reports display it. */
export const mainPages: readonly MainPage[] = [
  ['/', 'Home'],
  ['/pricing', 'Pricing', 'Plans and pricing'],
  ['/blog', 'Blog'],
  ['/features', 'Features', 'Product tour'],
  ['/docs', 'Documentation'],
  ['/signup', 'Create your account'],
  ['/shop', 'Shop'],
  ['/login', 'Log in'],
  ['/docs/getting-started', 'Getting started'],
  ['/demo', 'Book a demo'],
  ['/customers', 'Customers'],
  ['/downloads', 'Downloads'],
  ['/about', 'About us'],
  ['/newsletter', 'Newsletter'],
  ['/shop/cart', 'Your cart'],
  ['/shop/checkout', 'Checkout'],
  ['/integrations', 'Integrations'],
  ['/changelog', 'Changelog'],
  ['/docs/api', 'API reference'],
  ['/contact', 'Contact'],
  ['/careers', 'Careers'],
  ['/search', ''],
  ['/security', 'Security'],
  ['/privacy', 'Privacy policy'],
  ['/terms', 'Terms of service'],
  ['/imprint', 'Imprint'],
]

/** Blog posts: an opener, a thing, an ending. */
export const postOpeners = list(`
  How we fixed, How we cut, Why we care about, A field guide to, What nobody tells you about, Lessons from, The true cost of
  Rethinking, An introduction to, Seven myths about, Measuring, Notes on, Ten years of, The case for, The case against
  A checklist for, Debugging, Getting started with, The hidden life of, Five questions about, Making peace with, Living with
  A short history of, In praise of, Everything we know about, The state of, Three ways to improve, A closer look at, Beyond
  Understanding, Planning for, The quiet return of, How to talk about, Budgeting for, Reading list on, Behind the scenes of
  Our approach to, The art of, A year of, Goodbye to, When to ignore, Who owns
`)
export const postThings = list(`
  build times, flaky tests, cold starts, code review, error budgets, on-call rotations, feature flags, database migrations
  cache invalidation, page speed, web fonts, dark mode, cookie banners, privacy reviews, pricing pages, product launches
  remote work, design systems, status pages, release notes, customer interviews, support queues, technical debt, monorepos
  time zones, rate limits, public APIs, background jobs, message queues, search rankings, newsletters, landing pages
  onboarding flows, churn, free trials, annual plans, open source, hiring plans, team meetings, documentation, dashboards
  bounce rates, bot traffic, image formats, edge caching, backups, incident reports, load tests, type systems
  user research, accessibility audits, keyboard shortcuts, empty states, form design, roadmaps, side projects, refactoring
  vendor lock-in, data exports, log files
`)
export const postEndings = [
  '',
  ' in production',
  ' at scale',
  ' for small teams',
  ' on a budget',
  ' in practice',
  ' in the real world',
  ' for beginners',
  ' from first principles',
  ', one year later',
  ', explained',
  ', part two',
  ' for startups',
  ' for agencies',
  ' for non-profits',
  ' in an afternoon',
  ' for the impatient',
  ' without the hype',
  ', revisited',
  ', a checklist',
]

/** Documentation: an area, a verb and a thing. */
export const docAreas = list(`
  accounts, alerts, analytics, api, automation, billing, cli, dashboards, deployment, domains, events, exports, goals, imports
  integrations, migration, plugins, privacy, reports, security, self-hosting, teams, tracking, webhooks
`)
export const docVerbs = list(`
  Create, Configure, Rename, Delete, List, Filter, Share, Schedule, Debug, Secure, Test, Version, Archive, Restore, Monitor, Limit
`)
export const docThings = list(`
  API keys, access tokens, custom events, user roles, notifications, filters, saved views, data retention, backups, proxies
  rate limits, audit logs, time zones, segments, templates, environments
`)

/** Products: a kind and a thing. */
export const productKinds = list(`
  Recycled, Organic, Classic, Everyday, Limited, Heavy, Light, Striped, Plain, Embroidered, Insulated, Waterproof, Foldable
  Vintage, Merino, Linen, Bamboo, Cork, Enamel, Steel, Oak, Walnut, Ceramic, Glass, Leather, Canvas, Felt, Soft, Oversized
  Slim, Reflective, Reversible, Quilted, Ribbed, Washed, Brushed, Printed, Matte, Glossy, Magnetic, Modular, Stackable, Pocket
  Travel, Winter, Summer, Midnight, Forest, Coral, Slate, Sand, Ivory, Amber, Cobalt, Rust, Olive, Copper, Granite, Lunar, Solar
`)
export const productThings = list(`
  tote bag, mug, hoodie, t-shirt, sticker set, notebook, desk mat, water bottle, beanie, cap, socks, backpack, laptop sleeve
  pen, poster, calendar, keyring, lanyard, phone case, umbrella, scarf, gloves, apron, lunch box, candle, coaster set, lamp
  clock, pillow, blanket, towel, wallet, belt, card holder, cable pouch, headphone stand, monitor riser, keyboard, mouse pad
  webcam cover, travel cup, teapot, coffee beans, chocolate, puzzle, card game, plant pot, picture frame, bookend, tray
  vase, bowl, spoon, cutting board, raincoat, vest, sweater, jacket, shorts, slippers
`)

/** Customers: a name and a trade. */
export const customerNames = list(`
  Northwind, Bluebird, Fernhill, Lakeside, Ironbridge, Sunfield, Harbor, Redwood, Clearwater, Whitestone, Maple, Juniper
  Granite, Silverline, Kestrel, Meridian, Beacon, Foxglove, Larkspur, Driftwood, Evergreen, Summit, Coppermine, Tidewater
  Marigold, Oakridge, Pinecrest, Riverbend, Stonegate, Willow, Amberline, Brightwater, Cedar, Dunes, Eastgate, Fairview
`)
export const customerTrades = list(`
  Logistics, Software, Bakery, Outdoors, Media, Health, Travel, Energy, Studio, Publishing, Foods, Robotics, Insurance, Bikes
  Furniture, Labs, Music, Games, Schools, Gardens, Optics, Textiles, Brewing, Capital, Tools, Motors, Museums, Hotels, Farms
  Systems
`)

/** Hosts of the long tail of referrers: two words and a domain. */
export const hostFirsts = list(`
  daily, tiny, open, web, dev, data, cloud, indie, maker, pixel, byte, north, green, smart, quick, honest, modern, local
  slow, bright, weekly, plain, curious, friendly, hidden, happy, silent, urban, simple, next
`)
export const hostSeconds = list(`
  stack, notes, digest, weekly, forum, lab, garden, journal, tools, hub, cafe, press, signal, review, club, wire, guide, desk
  works, letters, radar, corner, bench, index, craft, report, post, loop, field, bytes
`)
export const hostEndings = list('.com, .io, .org, .net, .dev, .de, .co.uk, .blog')
