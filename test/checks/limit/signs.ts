// What a process shows of its Redis: metrics and log lines, for everything that watches it go and come back.
import type { ApiProcess } from '../../support/api-process.ts'

export const isUp = 'footfall_dependency_up{dependency="Redis"}'
export const degraded = 'footfall_ratelimit_degraded_total'

/** One number of a process's /metrics, by its name with labels. */
export async function metricOf(api: ApiProcess, name: string): Promise<number> {
  const text = await (await fetch(api.metricsUrl)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

/** The messages about Redis in the order of the log. */
export const redisLines = (api: ApiProcess): string[] =>
  api
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}')) // the last one may not have arrived whole
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
    .filter((message) => message.startsWith('Redis '))
