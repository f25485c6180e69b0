// Every page of the console in real Chromium, in both themes at 360 and 1,440 px: no violation that axe-core finds, no other origin, few
// bytes, hardly a layout shift, no horizontal scrolling, no errors, and targets that a finger hits. The pages come from the table of routes.
//   npm run check:console -- [--contents 1] [--looks 1] [--only <part of a name>] [--pictures <folder>]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { startProvider } from '../../support/provider.ts'
import { runCheck } from '../runner.ts'
import { install } from './installation.ts'
import { inPage, judge, type Look, lookName, looks, signIn } from './judge.ts'
import { type View, viewsOf } from './views.ts'

/** Two pages at a time: a page mostly waits, and axe-core takes a core. */
const atOnce = 2

await runCheck(
  {
    name: 'console',
    options: { contents: 3, looks: looks.length, only: '', pictures: '' },
    seconds: ({ contents }) => 120 + contents * 400,
  },
  async (check, { contents, looks: looksOfPage, only, pictures }) => {
    const provider = await startProvider()
    check.onEnd(provider.stop)
    const { issuer, clientId, clientSecret } = provider.settings
    const singleSignOn = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret }
    const { origin, content } = await install(check, singleSignOn)
    provider.admit(`${origin}/login/oidc/callback`)
    const browser = await openBrowser()
    check.onEnd(() => browser.close())
    const views = viewsOf(content, contents).filter(({ name }) => !only || name.includes(only))
    if (views.length === 0) throw new Error(`No page is called ${only}`)
    check.say(`${views.length} pages, each ${looksOfPage} times`)
    if (pictures) mkdirSync(pictures, { recursive: true })

    const waiting = visitsOf(views, looksOfPage)
    let pages = 0
    let [maxBytes, maxScriptBytes] = [0, 0]
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let visit = waiting.shift(); visit; visit = waiting.shift()) {
          for await (const { view, faults, bytes, scriptBytes } of judgeVisit(browser, {
            ...visit,
            origin,
            pictures,
          })) {
            for (const [kind, text] of faults) {
              check.fault(kind, `${view.name}, ${lookName(visit.look)}`, text)
            }
            pages++
            maxBytes = Math.max(maxBytes, bytes)
            maxScriptBytes = Math.max(maxScriptBytes, scriptBytes)
          }
        }
      }),
    )
    return { views: views.length, pages, maxBytes, maxScriptBytes }
  },
)

interface Visit {
  person: View['person']
  look: Look
  views: View[]
}

/**
 * One person in one look opens all views of the person, one after the other: a new context for each view would double the time. With
 * fewer looks than there are, the views share them out.
 */
function visitsOf(views: readonly View[], looksOfPage: number): Visit[] {
  const people = [...new Set(views.map(({ person }) => person))]
  return people.flatMap((person) =>
    looks.map((look, nth) => ({
      person,
      look,
      views: views.filter((view, index) => view.person === person && (index + nth) % looks.length < looksOfPage),
    })),
  )
}

async function* judgeVisit(
  browser: Browser,
  { person, look, views, origin, pictures }: Visit & { origin: string; pictures: string },
) {
  const context = await browser.newContext({
    viewport: { width: look.width, height: 900 },
    colorScheme: look.isDark === look.byCookie ? 'light' : 'dark',
    reducedMotion: 'reduce', // a transition between two pages would be measured, too
  })
  await context.addInitScript({ path: inPage })
  await signIn(context, origin, person, look)
  const page = await context.newPage()
  // Every page is measured as for somebody who comes for the first time.
  const session = await context.newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  for (const view of views) {
    const judgement = await judge(page, view, origin, look)
    if (pictures) {
      const name = `${view.name} ${look.isDark ? 'dark' : 'light'} ${look.width}`.replace(/[^a-z0-9]+/gi, '-')
      await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
    }
    yield { view, ...judgement }
  }
  await context.close()
}
