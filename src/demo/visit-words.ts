// The vocabulary of what visits of a demo site tell: UTM tags, browsers, properties and revenue.
import type { Channel } from '../traffic/channel.ts'
import type { CountryCode } from '../traffic/country.ts'
import type { Device } from '../traffic/device.ts'
import { list } from './words.ts'

/** The UTM medium of sessions with a source, by channel, and how the names of campaigns begin where the name decides the channel. */
export const media: Partial<Record<Channel, readonly [medium: string, campaignPrefix?: string]>> = {
  Affiliates: ['affiliate'],
  Audio: ['podcast'],
  'Cross-network': ['cpc', 'cross-network_'],
  Display: ['display'],
  Email: ['email'],
  'Mobile Push Notifications': ['push'],
  'Organic Social': ['social'],
  'Paid Other': ['cpc'],
  'Paid Search': ['cpc'],
  'Paid Shopping': ['cpc', 'shopping_'],
  'Paid Social': ['paid_social'],
  'Paid Video': ['cpv'],
  Referral: ['referral'],
  SMS: ['sms'],
}

/** Values of the other UTM tags, most frequent first. */
export const campaignNames = list(`
  brand, spring_launch, free_trial, summer_sale, product_tour, back_to_school, black_friday, new_year, webinar, customer_stories
  retargeting, case_study, referral_program, comparison, annual_plans, open_source
`)
export const contents = list('hero, text_link, banner_a, banner_b, footer, video, carousel, sidebar')
export const terms = list(`
  web analytics, privacy friendly analytics, cookieless tracking, website statistics, analytics without cookies, page speed
  self hosted analytics, simple analytics, bounce rate, utm builder
`)

/** Browsers and systems of visitors by device, named as bowser names them (enrichment/agent.ts). */
export const browsers: Readonly<Record<Device, readonly (readonly [weight: number, browser: string, os: string])[]>> = {
  Desktop: [
    [460, 'Chrome', 'Windows'],
    [140, 'Microsoft Edge', 'Windows'],
    [120, 'Safari', 'macOS'],
    [110, 'Chrome', 'macOS'],
    [60, 'Firefox', 'Windows'],
    [30, 'Firefox', 'Linux'],
    [30, 'Chrome', 'Linux'],
    [20, 'Firefox', 'macOS'],
    [20, 'Opera', 'Windows'],
    [10, 'Chrome', 'Chrome OS'],
  ],
  Mobile: [
    [430, 'Chrome', 'Android'],
    [400, 'Safari', 'iOS'],
    [70, 'Samsung Internet for Android', 'Android'],
    [50, 'Chrome', 'iOS'],
    [30, 'Firefox', 'Android'],
    [20, 'Opera', 'Android'],
  ],
  Tablet: [
    [550, 'Safari', 'iOS'],
    [300, 'Chrome', 'Android'],
    [100, 'Samsung Internet for Android', 'Android'],
    [50, 'Amazon Silk', 'Android'],
  ],
  Unknown: [[1, 'Unknown', 'Unknown']],
}

/** Properties of custom events: a key, and its values, most frequent first. */
export const eventProps: Readonly<Record<string, readonly [key: string, values: readonly string[]]>> = {
  signup: ['plan', ['free', 'pro', 'team', 'enterprise']],
  download: ['file', ['handbook.pdf', 'price-list.pdf', 'press-kit.zip', 'brochure.pdf', 'template.xlsx']],
  outbound_click: ['url', ['https://github.com/', 'https://docs.example.org/', 'https://status.example.net/']],
  purchase: ['items', ['1', '2', '3', '4', '5']],
  search: ['query', ['pricing', 'api key', 'export', 'invoice', 'time zone', 'webhook', 'gdpr']],
  video_play: ['video', ['tour', 'getting-started', 'interview']],
  start_trial: ['plan', ['pro', 'team']],
  upgrade: ['plan', ['pro', 'team', 'enterprise']],
}

/** Custom events with revenue. */
export const paidEvents = ['purchase', 'upgrade']

/** Currencies of visitors by country; all others pay in USD. */
export const currencies: Partial<Record<CountryCode, string>> = {
  ...{ DE: 'EUR', FR: 'EUR', NL: 'EUR', ES: 'EUR', IT: 'EUR', AT: 'EUR', BE: 'EUR', PT: 'EUR', FI: 'EUR', IE: 'EUR' },
  ...{ GB: 'GBP', JP: 'JPY', CH: 'CHF', IN: 'INR' },
}
