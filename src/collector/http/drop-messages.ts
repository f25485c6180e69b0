import type { DropReason } from '../intake/intake.ts'

/** What the browser's console says about an event that is not counted (docs/tracker.md). */
export const dropMessages: Readonly<Record<DropReason, string>> = {
  not_an_object: 'the event is not a JSON object',
  invalid_name: 'the name of an event has 1 to 120 characters',
  invalid_url:
    'the address of the page is not one of http or https, or is too long; a file on a disk cannot be counted',
  invalid_id: 'the id of an event is a UUID',
  no_page_event: 'it is neither a pageview nor a custom event',
  unknown_site: 'there is no site with this domain: compare data-site of the tag with the settings of the site',
  hostname_not_allowed:
    'the host of this page is not one of the site: add it under Host names in the settings of the site',
  bot: 'the browser says that it is a bot',
  spam_referrer: 'the referrer is known for spam',
  site_limit: 'the site has too many events at this moment',
}
