// The style sheet and the scripts of the console. The address of each holds a hash of its content, so browsers may keep it for ever.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { baseStyles, icon as iconText } from '../../web/look.ts'

interface Asset {
  path: string
  type: string
  body: string
}

const read = (name: string): string => readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8')

const asset = (name: string, body: string): Asset => {
  const [base, ending] = name.split('.') as [string, 'css' | 'js' | 'svg']
  const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }
  return {
    path: `/assets/${base}-${hash('sha256', body).slice(0, 10)}.${ending}`,
    type: `${types[ending]}; charset=utf-8`,
    body,
  }
}

const load = (name: string): Asset => asset(name, read(name))

export const styleSheet = asset('console.css', baseStyles + read('console.css'))
export const script = load('console.js')
/** For the pages of sites and their settings. */
export const siteScript = load('site.js')
export const dashboardStyles = load('dashboard.css')
export const dashboardScript = load('dashboard.js')
export const chartScript = load('chart.js')
/** For pages that move while they are open. */
export const movingScript = load('moving.js')
export const liveStyles = load('live.css')
export const icon = asset('icon.svg', iconText)

/** Pages of other sites name it, so its address stays the same. */
export const widget: Asset = { ...load('widget.js'), path: '/widget.js' }

export const assets: readonly Asset[] = [
  styleSheet,
  script,
  siteScript,
  dashboardStyles,
  dashboardScript,
  chartScript,
  movingScript,
  liveStyles,
  icon,
]
