import { type Html, html } from '../../web/html.ts'
import { layout } from '../layout/layout.ts'
import { type RefusalName, type RefusalText, refusals } from '../refusals.ts'
import type { Theme } from '../route.ts'

/** Somebody with a shared link or the link of a mail has no sites to go to. */
const withoutSites: readonly RefusalName[] = ['closed_link', 'closed_mail_link', 'opened_often']

/** It knows only the visitor's theme, so unknown and foreign things get the same bytes. */
export function refusalPage(name: RefusalName, theme: Theme | undefined): Html {
  const { title, text, back = { path: '/', name: 'All sites' } }: RefusalText = refusals[name]
  const isShared = withoutSites.includes(name)
  return layout({
    title,
    theme,
    narrow: true,
    isShared,
    body: html`<h1>${title}</h1>
<p class="lead">${text}</p>
${!isShared && html`<p><a class="button" href="${back.path}">${back.name}</a></p>`}`,
  })
}
