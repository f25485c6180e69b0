import { readFileSync } from 'node:fs'
import { Gauge, type Registry } from 'prom-client'

/** Of this installation, as its package.json has it. */
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** What runs, for dashboards that show when an upgrade happened. */
export function showBuildInfo(registry: Registry): void {
  new Gauge({
    name: 'footfall_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1)
}
