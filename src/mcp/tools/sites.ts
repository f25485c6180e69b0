import Type from 'typebox'
import { dayIn, input } from '../inputs.ts'
import { tool } from '../tool.ts'

/** More would fill the context of an assistant; `contains` finds the others. */
const maxSites = 100

export const sites = tool({
  name: 'sites',
  title: 'Sites',
  description:
    "Lists the sites whose statistics can be read, with each site's time zone and today's date there. Call it first if you do not know the domain.",
  input: input({
    contains: Type.Optional(
      Type.String({ maxLength: 255, description: 'Only sites whose domain contains this text.' }),
    ),
  }),
  output: Type.Object({
    sites: Type.Array(
      Type.Object({
        site_id: Type.String(),
        domain: Type.String(),
        time_zone: Type.String(),
        today: Type.String({ description: "Today's date in the time zone of the site." }),
      }),
    ),
    total_sites: Type.Integer({ description: 'The number of sites, also of those that are not listed.' }),
  }),
  async run({ contains = '' }, { source, now, signal }) {
    const matches = (await source.sites(signal)).filter(({ domain }) => domain.includes(contains.toLowerCase()))
    const listed = matches.slice(0, maxSites).map(({ id, domain, timeZone }) => ({
      site_id: id,
      domain,
      time_zone: timeZone,
      today: dayIn(timeZone, now).toString(),
    }))
    const lines = listed.map(
      ({ domain, site_id, time_zone, today }) => `${domain} (${site_id}, ${time_zone}, today is ${today})`,
    )
    const rest = matches.length - listed.length
    if (rest > 0) lines.push(`and ${rest} more; use contains to find them`)
    return { data: { sites: listed, total_sites: matches.length }, text: lines.join('\n') || 'No site.' }
  },
})
