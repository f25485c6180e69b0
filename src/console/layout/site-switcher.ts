// The menu in the header that leads from one site to another. It opens and searches without JavaScript; console.js fills it as one types.
import { maxHostname } from '../../hostnames.ts'
import { type Html, html } from '../../web/html.ts'

export const switcherPath = '/search'

export const siteSwitcher = html`<details class="switcher">
  <summary title="Another site (K)"><span class="unseen">Another site</span><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M2 4l4 4 4-4"/></svg></summary>
  <form class="switcher-menu" method="get" action="/" role="search" data-sites="${switcherPath}">
    <label class="unseen" for="switcher">Go to a site</label>
    <input id="switcher" name="q" type="search" placeholder="Go to a site" maxlength="${maxHostname}" autocomplete="off" autocapitalize="none" spellcheck="false">
    <div class="switcher-found" aria-live="polite"></div>
    <div class="row switcher-end"><button class="button small unscripted">Search</button><a href="/">All sites</a></div>
  </form>
</details>`

interface FoundSite {
  domain: string
  /** Where the user has several accounts. */
  account: string | false | undefined
}

/** The first sites that match, as links, and how many more there are. */
export const foundSites = (shown: readonly FoundSite[], more: number): Html =>
  shown.length === 0
    ? html`<p>No site matches.</p>`
    : html`<ul>${shown.map(
        ({ domain, account }) =>
          html`<li><a href="/sites/${domain}">${domain}${account && html`<span class="hint">${account}</span>`}</a></li>`,
      )}</ul>${more > 0 && html`<p>${more} more: type a part of the name.</p>`}`
