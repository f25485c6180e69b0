// Calls all endpoints with a client generated from docs/openapi.json: it compiles only if the types match, and prints the responses.
import createClient from 'openapi-fetch'
import type { paths } from './client.d.ts'

const { API, KEY } = process.env as { API: string; KEY: string }
const client = createClient<paths>({ baseUrl: API, headers: { Authorization: `Bearer ${KEY}` } })
const query = { range: '7d', limit: 5 } as const

const { data: overview } = await client.GET('/stats/overview', { params: { query } })
const { data: timeseries } = await client.GET('/stats/timeseries', { params: { query } })
const { data: pages } = await client.GET('/stats/pages', { params: { query } })
const { data: referrers } = await client.GET('/stats/referrers', { params: { query } })
const { data: channels } = await client.GET('/stats/channels', { params: { query } })
const { data: devices } = await client.GET('/stats/devices', { params: { query } })
const { data: geo } = await client.GET('/stats/geo', { params: { query } })
const { data: events } = await client.GET('/stats/events', { params: { query } })
const { data: utm } = await client.GET('/stats/utm', { params: { query } })
const { data: sites } = await client.GET('/sites')
const { data: sitesOverview } = await client.GET('/sites/overview', { params: { query } })
const { data: countries } = await client.GET('/countries')
const { error } = await client.GET('/stats/pages', { params: { query: { limit: 0 } } })

// Each line reads a field by its type: with a wrong schema it would not compile.
console.log(
  JSON.stringify({
    visitors: overview?.data.current.visitors satisfies number | undefined,
    change: overview?.data.change.visitors satisfies number | null | undefined,
    days: timeseries?.data.map(({ date }) => date satisfies string),
    pages: pages?.data.map(({ pathname, title, views }) => [
      pathname satisfies string,
      title satisfies string,
      views satisfies number,
    ]),
    referrers: referrers?.data.map(({ referrer }) => referrer satisfies string),
    channels: channels?.data.map(({ channel, percentage }) => [channel, percentage satisfies number]),
    devices: devices?.data.map(({ name }) => name),
    geo: geo?.data.map(({ name }) => name satisfies string),
    events: events?.data.map(({ name, count }) => [name satisfies string, count satisfies number]),
    utm: utm?.data.map(({ name }) => name satisfies string),
    sites: sites?.data.map(({ domain, time_zone }) => [domain satisfies string, time_zone satisfies string]),
    sitesOverview: sitesOverview?.data.map(({ period, current, change }) => [
      period.end satisfies string,
      current.visitors satisfies number,
      change.visitors satisfies number | null,
    ]),
    next: sitesOverview?.meta.next_cursor satisfies string | null | undefined,
    countries: countries?.data.slice(0, 1).map(({ code, name }) => [code satisfies string, name satisfies string]),
    error: error?.error.code,
    limit: pages?.meta.limit satisfies number | undefined,
  }),
)
