// Generated from docs/openapi.json by `npm run docs`.
import { get } from './request.js'

export { FootfallError } from './request.js'

export const overview = (server, parameters, options) => get(server, '/stats/overview', parameters, options)

export const timeseries = (server, parameters, options) => get(server, '/stats/timeseries', parameters, options)

export const pages = (server, parameters, options) => get(server, '/stats/pages', parameters, options)

export const referrers = (server, parameters, options) => get(server, '/stats/referrers', parameters, options)

export const channels = (server, parameters, options) => get(server, '/stats/channels', parameters, options)

export const devices = (server, parameters, options) => get(server, '/stats/devices', parameters, options)

export const geo = (server, parameters, options) => get(server, '/stats/geo', parameters, options)

export const events = (server, parameters, options) => get(server, '/stats/events', parameters, options)

export const utm = (server, parameters, options) => get(server, '/stats/utm', parameters, options)

export const sites = (server, parameters, options) => get(server, '/sites', parameters, options)

export const sitesOverview = (server, parameters, options) => get(server, '/sites/overview', parameters, options)

export const countries = (server, options) => get(server, '/countries', {}, options)
