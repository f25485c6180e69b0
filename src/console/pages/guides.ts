// How to put the snippet into the pages of a site, for the programs that most sites are made with. Each guide is a page.
import { readTracker } from '../../tracker/script.ts'
import { trackerTag } from '../../tracker/tag.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { siteScript } from '../layout/assets.ts'
import { layout, settingsHead, sitePath } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { firstEvent } from './first-event.ts'

export const guideRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings/install/:guide', access: 'site-member', handle: guidePage },
]

type Tag = ReturnType<typeof trackerTag> & { domain: string }

interface Guide {
  name: string
  /** The file or the field where the code goes. */
  steps(tag: Tag): readonly HtmlValue[]
  code(tag: Tag): string
  after?: HtmlValue
}

const routed = 'Pages that change without loading are counted, too: the script notices when the address changes.'

const guides: Readonly<Record<string, Guide>> = {
  html: {
    name: 'Plain HTML',
    steps: () => [
      html`Open the file or the template that all pages have in common.`,
      html`Paste the line before <code>&lt;/head&gt;</code>, and publish.`,
    ],
    code: ({ tag }) => tag,
  },
  wordpress: {
    name: 'WordPress',
    steps: () => [
      html`Put this into the file <code>functions.php</code> of your child theme, or into a plugin for snippets of code.`,
      html`If you use a plugin that caches pages, empty its cache.`,
    ],
    code: ({ tag }) => `add_action('wp_head', function () { ?>\n  ${tag}\n<?php });`,
    after: html`In a theme made of blocks the child theme needs a <code>functions.php</code> as well. A plugin that puts code into the header of all pages takes the plain line instead.`,
  },
  nextjs: {
    name: 'Next.js',
    steps: () => [
      html`Open <code>app/layout.tsx</code>, the layout of all pages. With the pages router, open <code>pages/_document.tsx</code> and put the element into <code>&lt;Head&gt;</code>.`,
      html`Put this into its <code>&lt;head&gt;</code>.`,
    ],
    code: (tag) => `<head>\n  ${jsx(tag)}\n</head>`,
    after: routed,
  },
  nuxt: {
    name: 'Nuxt',
    steps: () => [html`Open <code>nuxt.config.ts</code>.`, html`Add the script to <code>app.head</code>.`],
    code: ({ src, integrity, domain }) => `export default defineNuxtConfig({
  app: {
    head: {
      script: [
        {
          src: '${src}',
          defer: true,
          'data-site': '${domain}',
          integrity: '${integrity}',
          crossorigin: 'anonymous',
        },
      ],
    },
  },
})`,
    after: routed,
  },
  sveltekit: {
    name: 'SvelteKit',
    steps: () => [html`Open <code>src/app.html</code>.`, html`Paste the line above <code>%sveltekit.head%</code>.`],
    code: ({ tag }) => `<head>\n  ${tag}\n  %sveltekit.head%\n</head>`,
    after: routed,
  },
  astro: {
    name: 'Astro',
    steps: () => [
      html`Open the layout of your pages, such as <code>src/layouts/Layout.astro</code>.`,
      html`Paste the line into its <code>&lt;head&gt;</code>. <code>is:inline</code> keeps Astro from bundling it.`,
    ],
    code: ({ tag }) => `<head>\n  ${tag.replace('<script ', '<script is:inline ')}\n</head>`,
    after: routed,
  },
  'tag-manager': {
    name: 'Tag Manager',
    steps: () => [
      html`In Google Tag Manager add a tag of the type <b>Custom HTML</b>.`,
      html`Paste this. Tag Manager drops attributes that it does not know, so the script is made by code.`,
      html`Choose the trigger <b>Initialization – All Pages</b>, and publish the container.`,
    ],
    code: ({ src, integrity, domain }) => `<script>
  var script = document.createElement('script')
  script.src = '${src}'
  script.integrity = '${integrity}'
  script.crossOrigin = 'anonymous'
  script.setAttribute('data-site', '${domain}')
  document.head.appendChild(script)
</script>`,
    after: html`Blockers stop Tag Manager more often than other scripts. The line in the pages themselves counts more visitors.`,
  },
  shop: {
    name: 'Shop themes',
    steps: () => [
      html`In Shopify open <b>Online Store → Themes → Edit code</b>, and there <code>layout/theme.liquid</code>. Other shops have a template of all pages with another name.`,
      html`Paste the line before <code>&lt;/head&gt;</code>, and save.`,
    ],
    code: ({ tag }) => tag,
    after: html`Pages of the checkout have no theme in many shops, so they are not counted. Count an order with a <a href="https://shopify.dev/docs/api/web-pixels-api" rel="noopener noreferrer">pixel</a> or from your server.`,
  },
}

const jsx = ({ tag }: Tag): string => tag.replace('crossorigin=', 'crossOrigin=').replace('></script>', ' />')

/** Beside the snippet. */
export const guideLinks = ({ domain }: { domain: string }, current?: string): Html =>
  html`<nav class="guides" aria-label="How to add it">${Object.entries(guides).map(
    ([id, { name }]) =>
      html`<a href="${sitePath({ domain }, `/settings/install/${id}`)}"${id === current && html` aria-current="page"`}>${name}</a>`,
  )}</nav>`

async function guidePage(visit: SiteVisit): Promise<Reply> {
  const { services, site, params } = visit
  const id = params.guide ?? ''
  const guide = Object.hasOwn(guides, id) ? guides[id] : undefined
  if (!guide) throw new Refusal('not_found')
  const tag = { ...trackerTag(services.publicUrl, site.domain, readTracker()), domain: site.domain }
  return show(
    layout({
      title: `${guide.name} · ${site.domain}`,
      visit,
      site,
      head: html`<script type="module" src="${siteScript.path}"></script>\n`,
      body: html`${settingsHead(site, '/settings')}
<p class="back"><a href="${sitePath(site, '/settings')}">← Snippet</a></p>
<h2>Count visitors with ${guide.name}</h2>
${guideLinks(site, id)}
<section class="card padded guide">
<ol>${guide.steps(tag).map((step) => html`<li>${step}</li>`)}</ol>
<pre id="snippet" class="snippet" tabindex="0">${guide.code(tag)}</pre>
<div class="row snippet-state">
<button class="button scripted" type="button" data-copy="snippet">Copy</button>
<div class="first-event" role="status" data-poll="${sitePath(site, '/settings/first-event')}">${await firstEvent(visit)}</div></div>
${guide.after && html`<p class="hint">${guide.after}</p>`}
</section>`,
    }),
  )
}
