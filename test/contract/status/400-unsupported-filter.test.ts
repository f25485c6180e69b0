import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { refused, reportNames } from '../vocabulary.ts'

test('a filter on browser, os or channel is refused on every endpoint, including channels', async (t) => {
  const world = await openWorld(t)
  for (const name of reportNames)
    for (const query of ['browser=Chrome', 'os=Linux', 'channel=Direct'])
      refused(await world.get(`/stats/${name}`, query), 400, 'unsupported_filter')
})

test('the filter is refused in any form: empty, without a value, repeated, undecodable, escaped, in another case, with brackets', async (t) => {
  const world = await openWorld(t)
  for (const filter of ['browser', 'os', 'channel'])
    for (const query of [`${filter}=`, filter, `${filter}=a&${filter}=b`, `${filter}=%zz`, `${filter}=%00`])
      refused(await world.get('/stats/overview', query), 400, 'unsupported_filter')
  for (const query of ['%62rowser=Chrome', 'Browser=Chrome', 'os[]=Linux', 'channel[is]=Direct'])
    refused(await world.get('/stats/overview', query), 400, 'unsupported_filter')
})
