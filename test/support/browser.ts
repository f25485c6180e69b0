import { existsSync } from 'node:fs'
import type { Browser, LaunchOptions } from 'playwright-core'

export const chromiumFlags = [
  '--no-sandbox',
  // The tracker does not count browsers that a program steers.
  '--disable-blink-features=AutomationControlled',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** For one step of a page, on a machine that may be busy. */
const maxStepMs = 180_000

export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(path)) throw new Error('Chromium is missing: apt-get install chromium, or set CHROMIUM')
  return path
}

/** Debian's Chromium, without the network requests it makes on its own. */
export async function openBrowser(options: LaunchOptions = {}): Promise<Browser> {
  const { chromium } = await import('playwright-core') // takes half a second, which --help of a check must not
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags, ...options })
  browser.on('context', (context) => context.setDefaultTimeout(maxStepMs))
  return browser
}
