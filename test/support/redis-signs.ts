// The metrics and log lines of a process about its Redis.
import type { ApiProcess } from './api-process.ts'

export const isUp = 'footfall_dependency_up{dependency="Redis"}'
export const degraded = 'footfall_ratelimit_degraded_total'

/** One number in /metrics of a process, by its name with labels. */
export async function metricOf(api: ApiProcess, name: string): Promise<number> {
  const text = await (await fetch(api.metricsUrl)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

/** The log messages about Redis, in order. */
export const redisLines = (api: ApiProcess): string[] =>
  api
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}')) // the last one may be incomplete
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
    .filter((message) => message.startsWith('Redis '))
