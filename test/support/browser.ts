import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(path)) throw new Error('Chromium is missing: apt-get install chromium, or set CHROMIUM')
  return path
}

/** Debian's Chromium, without anything it would do by itself on the network. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags })
}
