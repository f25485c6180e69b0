// The reference pages at /api/v1/docs and /api/v2/docs, rendered once from an OpenAPI description. They load nothing from other hosts, so they work on
// a machine without internet, and everything can be read without scripts. `reference.js` adds search, copying and calls with a key.
import { type Html, html } from '../../web/html.ts'
import { mark } from '../../web/look.ts'
import { answerTemplate } from './cards.ts'
import { type Api, type Endpoint, endpointsOf } from './description.ts'
import { endpointSection } from './endpoint-section.ts'
import type { Guides } from './guides.ts'

interface Entry {
  id: string
  title: string
}

export function referencePage(api: Api, guidesOf: (api: Api, first: Endpoint) => Guides): string {
  const endpoints = endpointsOf(api)
  const { start, lookUp, otherVersion } = guidesOf(api, endpoints[0] as Endpoint)
  const byTag = Map.groupBy(endpoints, ({ operation }) => operation.tags[0] ?? 'Endpoints')
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${api.info.title}</title>
<link rel="stylesheet" href="docs/reference.css">
<link rel="icon" href="docs/icon.svg" type="image/svg+xml">
<script src="docs/reference.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="reference">
<header class="side">
<div class="bar">
<a class="mark" href="#main" aria-label="Footfall API, top of the page">${mark}<span>Footfall API</span></a>
<form class="search scripted" role="search"><label class="unseen" for="search">Search the reference</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="Search" aria-controls="found"><kbd aria-hidden="true">/</kbd>
<div class="found" id="found" hidden><p class="unseen" role="status"></p><ul></ul></div></form>
<button class="button open-contents" type="button" popovertarget="contents">Contents</button>
</div>
<nav class="contents" id="contents" popover aria-label="Contents">
${group('Start', start)}
${[...byTag].map(([tag, entries]) => group(tag, entries))}
${group('Look up', lookUp)}
<h2>More</h2><ul><li><a href="openapi.json">openapi.json</a></li><li><a href="${otherVersion.href}">${otherVersion.title}</a></li></ul>
</nav>
</header>
<main id="main">
<h1>${api.info.title}</h1>
<p class="lead">${api.info.summary}</p>
${start.map(({ section }) => section)}
${endpoints.map(endpointSection)}
${lookUp.map(({ section }) => section)}
<p class="note">Countries: <a href="https://db-ip.com">IP Geolocation by DB-IP</a></p>
</main>
</div>
${answerTemplate}
</body>
</html>
`.text
}

const group = (title: string, entries: readonly Entry[]): Html =>
  html`<h2>${title}</h2><ul>${entries.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`
