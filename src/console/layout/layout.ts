// The frame of every page: head, header with the site, tabs, and the main part.
import type { Site } from '../../accounts/sites.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { mark } from '../../web/look.ts'
import type { Theme, Visit } from '../route.ts'
import { icon, script, styleSheet } from './assets.ts'
import { siteSwitcher } from './site-switcher.ts'

interface Frame {
  title: string
  /** Undefined for pages that must be the same for everyone. */
  visit?: Visit | undefined
  /** Default: the theme of the visit. */
  theme?: Theme | undefined
  site?: Site | undefined
  /** For people without an account: no link leads into the console. */
  isShared?: boolean
  /** A narrow page, for one short form. */
  narrow?: boolean
  /** More for the head, such as a refresh. */
  head?: HtmlValue
  /** Next to the name of the site. */
  beside?: HtmlValue
}

export const layout = ({ body, ...frame }: Frame & { body: HtmlValue }): Html =>
  html`${layoutHead(frame)}${layoutTop(frame)}${body}${layoutEnd}`

/** The parts of a page that is sent piece by piece: the head, what is above the body, and what is below it. */
export const layoutHead = ({ title, visit, theme = visit?.theme, head }: Frame): Html => html`<!doctype html>
<html lang="en"${themeAttribute(theme)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Footfall</title>
<link rel="stylesheet" href="${styleSheet.path}">
<link rel="icon" href="${icon.path}" type="image/svg+xml">
<script type="module" src="${script.path}"></script>
${head}</head>
`

export const layoutTop = ({ visit, site, isShared, narrow, beside }: Frame): Html => html`<body>
<a class="skip" href="#main">Skip to content</a>
<div class="page${narrow ? ' narrow' : ''}">
<header class="top">
  ${isShared ? html`<span class="mark">${mark}<span>Footfall</span></span>` : html`<a class="mark" href="/" aria-label="Footfall, all sites">${mark}<span>Footfall</span></a>`}
  ${site && html`<span class="crumb" aria-hidden="true">/</span>${isShared ? html`<span class="site" title="${site.domain}">${site.domain}</span>` : html`<a class="site" href="${sitePath(site)}" title="${site.domain}">${site.domain}</a>`}`}
  ${!isShared && visit?.session && siteSwitcher}
  ${beside}
  <span class="spring"></span>
  ${visit?.session && html`<a class="avatar" href="/account" aria-label="${initials(visit.session.user.email)}, your account" title="${visit.session.user.email}">${initials(visit.session.user.email)}</a>`}
</header>
<main id="main">
`

export const layoutEnd = html`
</main>
</div>
</body>
</html>
`

const themeAttribute = (theme: Theme | undefined): HtmlValue => theme && html` data-theme="${theme}"`

/** `maria.keller@example.com` -> MK */
function initials(email: string): string {
  const [first = '', second = ''] = (email.split('@')[0] as string).split(/[._-]/).filter(Boolean)
  return ((first[0] ?? '?') + (second[0] ?? first[1] ?? '')).toUpperCase()
}

export const sitePath = ({ domain }: Pick<Site, 'domain'>, rest = ''): string => `/sites/${domain}${rest}`

const settingsTabs = [
  ['/settings', 'Site'],
  ['/settings/keys', 'API keys'],
  ['/settings/exclusions', 'Excluded countries'],
  ['/settings/goals', 'Goals'],
  ['/settings/segments', 'Segments'],
  ['/settings/notes', 'Notes'],
  ['/settings/imports', 'Import'],
  ['/settings/links', 'Shared links'],
  ['/settings/alerts', 'Alerts'],
  ['/settings/webhooks', 'Webhooks'],
] as const

/** The head of a settings page, with the tab of the page marked. */
export const settingsHead = (site: Site, current: (typeof settingsTabs)[number][0]): Html => html`
<h1>Settings</h1>
<nav class="tabs wrapping" aria-label="Settings">${settingsTabs.map(
  ([path, name]) =>
    html`<a href="${sitePath(site, path)}"${path === current && html` aria-current="page"`}>${name}</a>`,
)}</nav>`

/** The success message of a form. */
export const notice = (text: HtmlValue): Html => html`<p class="notice" role="status">${text}</p>`

/** The error message of a form. */
export const fault = (text: HtmlValue): Html => html`<p class="fault" role="alert">${text}</p>`
