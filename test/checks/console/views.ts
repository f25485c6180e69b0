// Every page of the console, derived from the table of routes: as people have it, after a mistake, refused, empty, and with long names.
import type { Page } from 'playwright-core'
import { isLinkRoute, isMailedRoute, type Route } from '../../../src/console/route.ts'
import { routes } from '../../../src/console/routes.ts'
import { addressOf, exampleOf, nameOf } from '../../console/route-examples.ts'
import type { OwnThings, Person } from '../../console/things.ts'
import type { Content } from './content.ts'

export interface View {
  name: string
  /** Undefined: not signed in. */
  person: Person | undefined
  address: string
  /** A form that is sent from the page; the view is what comes back. */
  form?: { action: string; fields: Record<string, string> }
  status: number
  /** What a person does on the page before it is judged. */
  prepare?(page: Page): Promise<void>
  /** The theme is not in a cookie but in the address. */
  themeInAddress?: boolean
}

const isForEveryone = (route: Route): boolean => route.access === 'everyone' || isOfLink(route)

/** Its theme is not in a cookie, because it reads none. */
const isOfLink = (route: Route): boolean => isLinkRoute(route) || isMailedRoute(route)

/** 1: every page once. 2: also as a viewer and of a new account. 3: also with names that are as long as can be. */
export function viewsOf({ usual, empty, long }: Content, contents: number): View[] {
  return [
    ...pages('usual', usual, (things) => things.owner),
    ...mistakes('usual', usual),
    ...refusals(usual),
    ...dashboards(usual),
    ...withFilters(usual),
    ...shared(usual),
    ...(contents >= 2
      ? [
          ...pages('viewer', { ...usual, reportId: usual.viewerReportId }, (things) => things.viewer),
          ...pages('empty', empty, ({ owner }) => owner),
        ]
      : []),
    ...(contents >= 3 ? [...pages('long', long, ({ owner }) => owner), ...mistakes('long', long)] : []),
  ]
}

function pages(content: string, things: OwnThings, personOf: (things: OwnThings) => Person): View[] {
  const isOwner = personOf(things) === things.owner
  return (
    routes
      .filter((route) => route.method === 'GET' && !exampleOf(route).isNoPage)
      // A new account has no keys, no shared links, no reports, no goals, no segments, no notes, no alerts and no webhooks, so none has a page.
      .filter(
        (route) =>
          content !== 'empty' || !(/\/(:id|(goals|segments|notes)\/change)$/.test(route.path) || isOfLink(route)),
      )
      .filter((route) => isOwner || !isForEveryone(route))
      .map((route) => ({
        name: `${content}: ${nameOf(route)}`,
        person: isForEveryone(route) ? undefined : personOf(things),
        themeInAddress: isOfLink(route),
        address: addressOf(route, things),
        status: !isOwner && /owner/.test(route.access) ? 403 : 200,
      }))
  )
}

/** The dashboard in all its states: the address says what it shows. */
const dashboards = ({ owner, domain }: OwnThings): View[] =>
  [
    '',
    'range=24h&countries=map&sources=channels',
    'range=yesterday&metric=pageviews',
    'range=30d&metric=conversions',
    'range=12m&metric=avg_duration',
    'range=7d&metric=bounce_rate&interval=hour',
    'range=all&interval=month',
    'range=12m&compare=year&match=weekday',
    'range=today&compare=2026-01-01/2026-01-01',
    'range=7d&compare=2026-02-01/2026-01-01',
    'range=custom&start=2026-02-01&end=2026-01-01',
    'range=12m&metric=pageviews&compare=off&sources=utm',
    'range=7d&country=DE&device=mobile&hostname=www.demo.example&utm_source=google',
    'range=custom&start=2020-01-01&end=2026-12-31',
    'range=custom&start=2040-01-01&end=2040-12-31',
    'range=90d&pages=entry_page&sources=utm_campaign&devices=os&actions=event&filter=page:starts_with:/blog&filter=device:is_not:mobile',
    'filter=referrer:is:google.com&filter=page:contains:/&pages=exit_page&sources=channel&devices=browser&countries=map',
    'more=page&order=visitors:asc&filter=country:is:US,DE,GB,FR,IN,CA,BR,NL,CH,PL',
    'more=entry_page&search=blog',
    'more=country&country=US',
    'more=goal',
    // A segment.
    'filter=page:is:/pricing&filter=channel:is:Organic+Search',
    'country=XX',
  ].map((query) => ({
    name: `dashboard: ${query}`,
    person: owner,
    address: `/sites/${domain}?${query}`,
    status: query === 'country=XX' || /2026-02-01.*2026-01-01/.test(query) ? 400 : 200,
  }))

/** Forms that get their filters from the dashboard. */
const withFilters = ({ owner, accountId, domain }: OwnThings): View[] =>
  [
    ['a link', `/sites/${domain}/settings/links/new?filter=page:starts_with:/blog&filter=country:is:DE`],
    ['a report', `/account/reports?account=${accountId}&site=${domain}&filter=page:starts_with:/blog`],
  ].map(([name, address]) => ({ name: `with filters: ${name}`, person: owner, address: String(address), status: 200 }))

/** Shared links in the states that their own pages have not: with a filter of the visitor, and embeddable. */
const shared = ({ sharedToken, embeddableToken }: OwnThings): View[] =>
  [
    [sharedToken, 'range=24h&countries=map&device=mobile', 200],
    [sharedToken, 'more=page&order=sessions', 200],
    [sharedToken, 'country=XX', 400],
    [embeddableToken, 'range=7d', 200],
  ].map(([token, query, status]) => ({
    name: `share: ${query}`,
    person: undefined,
    themeInAddress: true,
    address: `/share/${token}?${query}`,
    status: Number(status),
  }))

/** What comes back after a mistake in a form. Every form where a person can make one has an example of it. */
function mistakes(content: string, things: OwnThings): View[] {
  return routes.flatMap((route) => {
    const { mistake, mistakeStatus = 422, form } = exampleOf(route)
    if (!mistake) return []
    return {
      name: `${content}: ${nameOf(route)} with a mistake`,
      person: isForEveryone(route) ? undefined : things.owner,
      themeInAddress: isOfLink(route),
      // Any page with a form has the token, except where a form has one of its own.
      address: form?.(things).page ?? (route.access === 'everyone' ? '/login' : '/account'),
      form: { action: addressOf(route, things), fields: mistake(things) },
      status: mistakeStatus,
    }
  })
}

function refusals({ owner, viewer, domain }: OwnThings): View[] {
  const owners = routes.find(({ method, access }) => method === 'POST' && access === 'site-owner')
  return [
    ...links(),
    { name: 'single sign-on that failed', person: undefined, address: '/login/oidc/callback', status: 400 },
    { name: 'unknown page', person: undefined, address: '/nothing', status: 404 },
    { name: 'unknown site', person: owner, address: '/sites/unknown.example/settings', status: 404 },
    ...(owners
      ? [
          {
            name: 'for owners only',
            person: viewer,
            address: '/account',
            form: { action: owners.path.replace(':domain', domain), fields: {} },
            status: 403,
          },
        ]
      : []),
    {
      name: 'foreign form',
      person: undefined,
      address: '/login',
      form: { action: '/login', fields: { token: 'x' } },
      status: 403,
    },
  ]
}

/** Links that work once, after they have been used, and shared links that do not work any more. */
const links = (): View[] =>
  routes
    .filter(({ method, path }) => method === 'GET' && path.endsWith('/:token'))
    .map((route) => ({
      name: `used link: ${route.path}`,
      person: undefined,
      themeInAddress: isOfLink(route),
      address: route.path.replace(':token', 'x'.repeat(43)),
      status: 404,
    }))
