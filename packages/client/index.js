// Generated from docs/openapi.json by `npm run docs`.
import { get } from './request.js'

export { FootfallError } from './request.js'

export const overview = (server, parameters, options) => get(server, '/api/v1/stats/overview', parameters, options)

export const timeseries = (server, parameters, options) => get(server, '/api/v1/stats/timeseries', parameters, options)

export const pages = (server, parameters, options) => get(server, '/api/v1/stats/pages', parameters, options)

export const referrers = (server, parameters, options) => get(server, '/api/v1/stats/referrers', parameters, options)

export const channels = (server, parameters, options) => get(server, '/api/v1/stats/channels', parameters, options)

export const devices = (server, parameters, options) => get(server, '/api/v1/stats/devices', parameters, options)

export const geo = (server, parameters, options) => get(server, '/api/v1/stats/geo', parameters, options)

export const events = (server, parameters, options) => get(server, '/api/v1/stats/events', parameters, options)

export const utm = (server, parameters, options) => get(server, '/api/v1/stats/utm', parameters, options)

export const sites = (server, parameters, options) => get(server, '/api/v1/sites', parameters, options)

export const sitesOverview = (server, parameters, options) => get(server, '/api/v1/sites/overview', parameters, options)

export const countries = (server, options) => get(server, '/api/v1/countries', {}, options)
