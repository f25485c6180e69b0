// The lists of the dashboard and its panels. Each list is a question to the API, by the dimension that it is called after.
import { counted } from '../../display/formats.ts'
import { displayOf } from '../../display/metrics.ts'

export interface List {
  /** On its tab. */
  tab: string
  /** Above its rows. */
  heading: string
  /** `All 41 entry pages` */
  plural: readonly [one: string, many: string]
  /** The numbers of a panel. The first one is shown and orders the rows. */
  metrics: readonly [string, ...string[]]
  /** Without rows. */
  nothing: string
}

const visits = ['sessions', 'bounce_rate', 'avg_duration'] as const

const byVisitors = { metrics: ['visitors', 'pageviews'], nothing: 'No visitors.' } as const

const campaign = (tab: string, plural: readonly [string, string]): List => ({
  ...byVisitors,
  tab,
  heading: tab,
  plural,
  nothing: 'No link with tags brought visitors.',
})

export const lists = {
  page: {
    tab: 'Pages',
    heading: 'Page',
    plural: ['page', 'pages'],
    metrics: ['pageviews', 'visitors'],
    nothing: 'No page was viewed.',
  },
  entry_page: { ...byVisitors, tab: 'Entry', heading: 'Entry page', plural: ['entry page', 'entry pages'] },
  exit_page: { ...byVisitors, tab: 'Exit', heading: 'Exit page', plural: ['exit page', 'exit pages'] },
  channel: { ...byVisitors, tab: 'Channels', heading: 'Channel', plural: ['channel', 'channels'] },
  referrer: { ...byVisitors, tab: 'Referrers', heading: 'Referrer', plural: ['referrer', 'referrers'] },
  utm_campaign: campaign('Campaign', ['campaign', 'campaigns']),
  utm_source: campaign('Source', ['source', 'sources']),
  utm_medium: campaign('Medium', ['medium', 'media']),
  utm_content: campaign('Content', ['content', 'contents']),
  utm_term: campaign('Term', ['term', 'terms']),
  country: { ...byVisitors, tab: 'Countries', heading: 'Country', plural: ['country', 'countries'] },
  device: { ...byVisitors, tab: 'Devices', heading: 'Device', plural: ['device', 'devices'] },
  browser: { ...byVisitors, tab: 'Browsers', heading: 'Browser', plural: ['browser', 'browsers'] },
  os: { ...byVisitors, tab: 'Systems', heading: 'System', plural: ['system', 'systems'] },
  event: {
    tab: 'Events',
    heading: 'Event',
    plural: ['event', 'events'],
    metrics: ['visitors', 'events'],
    nothing: 'No custom event was sent.',
  },
  goal: {
    tab: 'Goals',
    heading: 'Goal',
    plural: ['goal', 'goals'],
    metrics: ['conversions', 'conversion_rate'],
    nothing: 'Nobody reached a goal.',
  },
} as const satisfies Record<string, List>

export type ListName = keyof typeof lists

export const isListName = (name: string): name is ListName => Object.hasOwn(lists, name)

/** `Entry pages` */
export const titleOfList = (name: ListName): string =>
  lists[name].plural[1].replace(/^./, (first) => first.toUpperCase())

export const campaignLists = ['utm_campaign', 'utm_source', 'utm_medium', 'utm_content', 'utm_term'] as const

/** Events and goals are not about the visit, but about what happened in it. */
export const hasVisits = (name: ListName): boolean => name !== 'event' && name !== 'goal'

/** All columns of a list alone. Those of visits may cost more (D-235), so a list can do without them. */
export const columnsOf = (name: ListName, withVisits: boolean): readonly string[] =>
  withVisits && hasVisits(name) ? [...lists[name].metrics, ...visits] : lists[name].metrics

export const panels = {
  pages: { title: 'Pages', lists: ['page', 'entry_page', 'exit_page'], first: 'page' },
  sources: { title: 'Sources', lists: ['channel', 'referrer', ...campaignLists], first: 'referrer' },
  places: { title: 'Places', lists: ['country'], first: 'country' },
  devices: { title: 'Devices', lists: ['device', 'browser', 'os'], first: 'device' },
  actions: { title: 'Events and goals', lists: ['goal', 'event'], first: 'goal' },
} as const satisfies Record<string, { title: string; lists: readonly ListName[]; first: ListName }>

export type PanelName = keyof typeof panels

export const panelNames = Object.keys(panels) as PanelName[]

/** Names in addresses of earlier versions. */
export const formerNames: Readonly<Record<string, ListName>> = {
  pages: 'page',
  referrers: 'referrer',
  channels: 'channel',
  utm: 'utm_source',
  geo: 'country',
  devices: 'device',
  events: 'event',
}

/** Above a column, where there is little room. */
export const columnName = (metric: string): string =>
  ({ pageviews: 'Views', events: 'Times', bounce_rate: 'Bounce', avg_duration: 'Duration', conversion_rate: 'Rate' })[
    metric
  ] ?? displayOf(metric).name

/** `4,120 views, 3,011 visitors` */
export const wordsOfNumbers = (metrics: readonly string[], row: Readonly<Record<string, unknown>>): string =>
  metrics.map((metric) => wordOf(metric, Number(row[metric]))).join(', ')

function wordOf(metric: string, number: number): string {
  if (metric === 'conversion_rate') return `${displayOf(metric).text(number)} of visitors`
  const noun = { pageviews: 'view', visitors: 'visitor', events: 'time', conversions: 'conversion' }[metric] ?? metric
  return counted(number, noun)
}
