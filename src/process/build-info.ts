import { readFileSync } from 'node:fs'
import { Gauge, type Registry } from 'prom-client'

/** The version of this installation, from its package.json. */
export const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Publishes the running version, for dashboards that show when an upgrade happened. */
export function showBuildInfo(registry: Registry): void {
  new Gauge({
    name: 'footfall_build_info',
    help: 'Always 1; the labels name the running versions.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1)
}
