import { findDroppedEvent } from '../accounts/dropped-events.ts'
import { listSites, type Site } from '../accounts/sites.ts'
import { findInSpool } from '../collector/shipper/find-event.ts'
import { findStoredEvent } from '../stats/stored-event.ts'
import { isEventId, whereIs } from '../tracing/whereabouts.ts'
import { type Command, CommandError, type Context, type Input, positionals, text } from './command.ts'
import { siteOf } from './site-reference.ts'

const find: Command = {
  summary: 'Say where an event is: counted, dropped, or in the spool of this machine',
  usage: '<id> [--site <site>] [--day <day>]',
  options: { site: { type: 'string' }, day: { type: 'string' } },
  optionHelp: {
    site: 'the site that it was sent to, by domain or id; needed if there are several',
    day: 'its day, such as 2026-01-31; without it, the last 48 hours',
  },
  examples: [
    'footfall event find 3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52',
    'footfall event find 3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52 --site example.com --day 2026-01-31',
  ],
  async run(input, context) {
    const [id] = positionals(input, ['id']).map((word) => word.toLowerCase()) as [string]
    if (!isEventId(id))
      throw new CommandError(
        'The id of an event is a UUID.',
        'It is the id that the event was sent with, or that the collector returned with ?debug=1.',
      )
    const site = await siteOfEvent(context, input)
    const { postgres, cluster, config } = context
    const event = { siteId: site.id, eventId: id }
    const found = await whereIs(
      id,
      site,
      {
        stored: (days) => findStoredEvent(cluster.of(site), site.id, id, days),
        dropped: () => findDroppedEvent(postgres, site.id, id),
        spool: () => findInSpool(config.SPOOL_FOLDER, event),
      },
      { day: dayOf(text(input, 'day')), now: Date.now() },
    )
    const { message, event: name, page, hostname, time } = found
    return {
      data: found,
      show: () =>
        [
          message,
          ...(name !== null
            ? [`It is ${name === 'pageview' ? 'a pageview' : `the event ${name}`} on ${hostname}${page}.`]
            : []),
          ...(found.reason === 'hostname_not_allowed' ? [`The host is ${hostname}.`] : []),
          ...(time !== null ? [`It reached Footfall at ${time}.`] : []),
        ].join('\n'),
      ...(found.state === 'unknown' && { exitCode: 1 }),
    }
  },
}

async function siteOfEvent({ postgres }: Context, input: Input): Promise<Site> {
  const named = text(input, 'site')
  if (named !== undefined) return siteOf(postgres, named)
  const [only, ...others] = await listSites(postgres)
  if (only && others.length === 0) return only
  throw new CommandError('Which site was it sent to?', 'Name it with --site. See them all with: footfall site list')
}

function dayOf(day: string | undefined): string | undefined {
  try {
    if (day !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(day)
    return day === undefined ? undefined : Temporal.PlainDate.from(day).toString()
  } catch {
    throw new CommandError(`${day} is no day.`, 'Write it as 2026-01-31.')
  }
}

export const event = { find }
