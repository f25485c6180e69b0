/** Why an event is not counted, as browsers and people are told (docs/errors.md, docs/tracker.md). */
export const dropMessages = {
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
} as const satisfies Record<string, string>

export type DropReason = keyof typeof dropMessages

export const dropReasons = Object.keys(dropMessages) as readonly DropReason[]
