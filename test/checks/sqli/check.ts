// Sends hostile strings through every filter. Each comes back from ClickHouse unchanged, none breaks a statement, and a filter finds only
// the rows that contain it.
//   npm run check:sqli -- --n 1000000
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { seeded } from '../../support/random.ts'
import { connect, createStores, disconnect, keySecrets } from '../../support/stores.ts'
import { runCheck } from '../runner.ts'
import { refuseAsDates, roundTrip } from './clickhouse.ts'
import { filterEach, refuseElsewhere } from './http.ts'
import { questionEach, refuseInQuestions } from './questions.ts'

const requestsPerKey = 4_000 // of 5,000 per hour

await runCheck({ name: 'sqli', options: { n: 20_000 }, seconds: ({ n }) => 120 + n / 1_500 }, async (check, { n }) => {
  const created = await createStores()
  check.onEnd(created.remove)
  const stores = connect(created.addresses)
  check.onEnd(() => disconnect(stores))
  const random = seeded(`${check.seed}/sqli`)

  // One percent of the strings is also sent through HTTP: half in questions of version 2, a quarter each as a hostname and as a source.
  const sample = Math.min(2_000, Math.max(200, 2 * Math.ceil(n / 200)))
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: 'Hostile', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'hostile.example' })
  const keys: string[] = []
  while (keys.length * requestsPerKey < 4 * sample) {
    keys.push((await createKey(postgres, keySecrets, { accountId, siteId, name: 'Hostile' })).text)
  }
  const api = await startApiProcess({
    postgres: created.addresses.postgres,
    clickhouse: created.addresses.clickhouse,
  })
  check.onEnd(api.stop)

  const counts = await roundTrip(check, stores.clickhouse, random, n)
  check.say(`${counts.equal} of ${counts.values} came back equal`)
  const refusedAsDates = await refuseAsDates(check, stores.clickhouse, random, 200)
  const http = await filterEach(check, stores, { siteId, keys }, api.url, random, sample / 2)
  const questions = await questionEach(check, stores, { siteId, keys }, api.url, random, sample)
  check.say(`filters: ${JSON.stringify({ http, questions })}`)
  const refusedElsewhere = await refuseElsewhere(check, { siteId, keys }, api.url, random, sample / 2)
  const refusedInQuestions = await refuseInQuestions(check, { siteId, keys }, api.url, random, sample / 2)
  if (counts.values !== n) check.fault('not all values were compared', `${counts.values} of ${n}`)
  const complaints = api
    .log()
    .split('\n')
    .filter((line) => line !== '' && !/"level":[34]0/.test(line))
  for (const line of complaints) check.fault('error in the log', line.slice(0, 400))
  return {
    ...counts,
    refusedAsDates,
    http: { ...http, refusedElsewhere },
    questions: { ...questions, refused: questions.refused + refusedInQuestions },
  }
})
