import { type DeletedSite, listDeletedSites } from '../../erasure/deleted-sites.ts'
import { tryToEraseRows } from '../../erasure/job.ts'
import { removeSite } from '../../users/site-changes.ts'
import { type Html, html } from '../../web/html.ts'
import { layout } from '../layout/layout.ts'
import { dayText } from '../layout/times.ts'
import { goTo, type Reply, type Route, type SiteVisit, show, type UserVisit } from '../route.ts'
import { settingsPage } from './site-settings.ts'

export const siteDeletionRoutes: readonly Route[] = [
  { method: 'POST', path: '/sites/:domain/settings/delete', access: 'site-owner', handle: deleteSite },
  { method: 'GET', path: '/deletions', access: 'user', handle: deletions },
]

/** Time limit, because a person waits for the page. The process that rolls up erases the rest. */
const eraseMs = 5_000

async function deleteSite(visit: SiteVisit): Promise<Reply> {
  const { services, site, form } = visit
  if ((form.get('confirm') ?? '').trim().toLowerCase() !== site.domain) {
    const text = `That is not ${site.domain}. Nothing was deleted. Type the domain as it is written here.`
    return show(await settingsPage(visit, { form: 'delete', text }), 422)
  }
  await removeSite(services.postgres, visit.actor, site)
  // The keys of a site are cached with their account.
  services.directory.forget(site.id)
  services.directory.forget(site.accountId)
  await tryToEraseRows({ postgres: services.postgres, clickhouse: services.cluster.of(site) }, eraseMs)
  return goTo('/deletions')
}

/** Deletions of the accounts that the user owns. */
async function deletions(visit: UserVisit): Promise<Reply> {
  const owned = visit.memberships.filter(({ role }) => role === 'owner').map(({ accountId }) => accountId)
  const deleted = await listDeletedSites(visit.services.postgres, owned)
  return show(
    layout({
      title: 'Deleted sites',
      visit,
      body: html`<h1>Deleted sites</h1>
<p class="lead">Erasing takes three steps. Nobody can read the traffic after the first; its last byte is gone from the disk within 8 days.</p>
${deleted.length === 0 ? html`<div class="card empty"><h2>No deleted sites</h2><p><a class="button" href="/">All sites</a></p></div>` : table(deleted)}
<p class="note">Events that still arrive from pages with the snippet are erased, too. Backups that exist still contain the traffic.</p>`,
    }),
  )
}

const steps = { erased: 'Traffic erased', rewritten: 'Disk rewritten', gone: 'Gone from disk' } as const

/** On a phone every row is a list, and `data-name` says what each entry is. */
const table = (deleted: readonly DeletedSite[]): Html => html`<div class="card">
<table class="steps">
<thead><tr><th scope="col">Site</th><th scope="col">Deleted</th>${Object.values(steps).map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${deleted.map(
  ({ id, domain, deletedAt, erasedAt, rewrittenAt, purgedAt, goneBy }) => html`<tr>
<th scope="row">${domain ?? id}</th>
<td data-name="Deleted">${dayText(deletedAt)}</td>
${step(steps.erased, erasedAt, 'in a minute')}
${step(steps.rewritten, rewrittenAt, 'waiting')}
${step(steps.gone, purgedAt, `by ${dayText(goneBy)}`)}
</tr>`,
)}</tbody>
</table>
</div>`

const step = (name: string, done: Date | null, expected: string): Html =>
  html`<td data-name="${name}"><span class="state${done ? '' : ' off'}"><i></i>${done ? dayText(done) : expected}</span></td>`
