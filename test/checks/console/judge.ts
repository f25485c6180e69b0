// Opens one page in Chromium and measures everything that a page of the console promises.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { pause } from '../runner.ts'
import type { View } from './views.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
}

/** The script that every page runs for `measurePage` and `sendForm`. */
export const inPage = fileURLToPath(new URL('in-page.js', import.meta.url))

const maxScriptBytes = 20_000
const maxBytes = 100_000
/**
 * Half of what browsers call good (https://web.dev/articles/cls). It is not 0: a page arrives in pieces, and a table that is painted
 * before its last row is there gets other widths. At 40 kB/s and an eighth of a CPU the pages shift by 0.034 at most.
 */
const maxLayoutShift = 0.05
/** Long enough for what a script does after loading. */
const settledMs = 250

export interface Judgement {
  faults: [kind: string, text: string][]
  bytes: number
  scriptBytes: number
}

/** The page stays open: the caller may take a picture. */
export async function judge(page: Page, view: View, origin: string, look: Look): Promise<Judgement> {
  const faults: Judgement['faults'] = []
  const fault = (kind: string, text: string) => void faults.push([kind, text])
  const requests: Request[] = []
  page.removeAllListeners()
  page.on('request', (request) => void requests.push(request))
  page.on('framenavigated', (frame) => frame === page.mainFrame() && forgetEarlierPage(requests))
  page.on('pageerror', (error) => fault('script error', error.message))
  page.on('console', (message) => {
    // Chromium also reports the status of the page itself.
    const isStatus = message.text().includes(`the server responded with a status of ${view.status}`)
    if (['error', 'warning'].includes(message.type()) && !isStatus) fault('console', message.text())
  })

  const first = await page.goto(origin + themed(view.address, view, look), { waitUntil: 'load' })
  let status = first?.status()
  if (view.form) status = await sendForm(page, { ...view.form, action: themed(view.form.action, view, look) })
  await view.prepare?.(page)
  if (status !== view.status) fault('status', `${status} instead of ${view.status}`)
  await pause(settledMs)

  const measured = await page.evaluate<InPage>('measurePage()')
  judgeMeasured(measured, look.isDark, fault)
  const sizes = await sizesOf(requests, origin, fault)
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(axeOptions)})`)
  for (const { id, help, nodes } of violations) {
    fault(
      'axe',
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(({ target, html }) => `${target} ${html.slice(0, 150)}`)
        .join(' | ')}`,
    )
  }
  return { faults, ...sizes }
}

/** A shared link reads no cookie, so its address says what the cookie would. */
function themed(address: string, { themeInAddress }: View, { byCookie, isDark }: Look): string {
  if (!themeInAddress || !byCookie) return address
  return `${address}${address.includes('?') ? '&' : '?'}theme=${isDark ? 'dark' : 'light'}`
}

async function sendForm(page: Page, form: NonNullable<View['form']>): Promise<number | undefined> {
  const [response] = await Promise.all([
    page.waitForNavigation({ waitUntil: 'load' }),
    page.evaluate(`sendForm(${JSON.stringify(form)})`),
  ])
  return response?.status()
}

interface InPage {
  layoutShifts: { value: number; by: string }[]
  violations: string[]
  wideBy: string[]
  smallTargets: string[]
  cutTexts: string[]
  lightness: number
}

function judgeMeasured(measured: InPage, isDark: boolean, fault: (kind: string, text: string) => void): void {
  const { layoutShifts, violations, wideBy, smallTargets, cutTexts, lightness } = measured
  const shift = layoutShifts.reduce((sum, { value }) => sum + value, 0)
  if (shift > maxLayoutShift) {
    fault('layout shift', layoutShifts.map(({ value, by }) => `${value.toFixed(4)} by ${by}`).join(', '))
  }
  for (const violation of violations) fault('policy', violation)
  if (wideBy.length > 0) fault('horizontal scrolling', wideBy.join(', '))
  for (const target of smallTargets) fault('small target', target)
  for (const text of cutTexts) fault('cut text', text)
  if (lightness < 0.5 !== isDark) fault('theme', `the ground has a lightness of ${lightness}`)
}

/**
 * A form was sent from another page. Chromium may ask for the icon of that page after it has sent the form, and aborts it when the
 * answer arrives: so what was asked for before the answer belongs to the page before.
 */
function forgetEarlierPage(requests: Request[]): void {
  const answered = requests.findLastIndex((request) => request.isNavigationRequest())
  if (answered > 0) requests.splice(0, requests.length, ...requests.slice(answered, answered + 1))
}

async function sizesOf(requests: readonly Request[], origin: string, fault: (kind: string, text: string) => void) {
  let [bytes, scriptBytes] = [0, 0]
  for (const request of requests) {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) {
      fault('another origin', request.url())
      continue
    }
    if (request.url().startsWith('data:')) continue
    const response = await request.response()
    if (!response) {
      fault('broken request', `${request.failure()?.errorText} ${request.url()}`)
      continue
    }
    // A stream goes on while the page is open.
    if (response.headers()['content-type']?.startsWith('text/event-stream')) continue
    if (response.status() >= 400 && !request.isNavigationRequest())
      fault('broken request', `${response.status()} ${request.url()}`)
    // What comes from Chromium's cache in memory has a size below 0, but the length that the server stated.
    const { responseBodySize } = await request.sizes()
    const bodyBytes = Number(response.headers()['content-length'] ?? responseBodySize)
    bytes += bodyBytes
    if (request.resourceType() === 'script') scriptBytes += bodyBytes
  }
  if (scriptBytes > maxScriptBytes) fault('size of scripts', `${scriptBytes} bytes`)
  if (bytes > maxBytes) fault('size of the page', `${bytes} bytes`)
  return { bytes, scriptBytes }
}

export interface Look {
  isDark: boolean
  width: number
  /** Whether the theme comes from the cookie, against what the system says. */
  byCookie: boolean
}

/** All four combinations, each way of choosing a theme at each width. */
export const looks: readonly Look[] = [
  { isDark: false, width: 360, byCookie: false },
  { isDark: true, width: 360, byCookie: true },
  { isDark: false, width: 1440, byCookie: true },
  { isDark: true, width: 1440, byCookie: false },
]

export const lookName = ({ isDark, width, byCookie }: Look): string =>
  `${isDark ? 'dark' : 'light'}${byCookie ? ' by cookie' : ''}, ${width} px`

export async function signIn(
  context: BrowserContext,
  origin: string,
  person: View['person'],
  look: Look,
): Promise<void> {
  const cookies = [
    ...(person ? [{ name: 'footfall-session', value: person.cookie, url: origin }] : []),
    ...(look.byCookie ? [{ name: 'footfall-theme', value: look.isDark ? 'dark' : 'light', url: origin }] : []),
  ]
  if (cookies.length > 0) await context.addCookies(cookies)
}
