// Generated from docs/openapi-v2.json by `npm run docs`.
import { get, watch } from './request.js'

export { FootfallError } from './request.js'

export const totals = (server, parameters, options) => get(server, '/api/v2/stats/totals', parameters, options)

export const timeseries = (server, parameters, options) => get(server, '/api/v2/stats/timeseries', parameters, options)

export const breakdown = (server, parameters, options) => get(server, '/api/v2/stats/breakdown', parameters, options)

export const goals = (server, parameters, options) => get(server, '/api/v2/goals', parameters, options)

export const event = (server, parameters, options) => get(server, '/api/v2/events/{id}', parameters, options)

export const live = (server, parameters, options) => watch(server, '/api/v2/live', parameters, options)
