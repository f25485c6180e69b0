// PostgreSQL as distributions ship it: passwords over TCP, and on the socket only the user of the operating system.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { openPostgres } from '../../src/stores/postgres.ts'
import { runFootfall } from '../support/installation.ts'
import { needing } from '../support/needing.ts'
import { type OwnServer, startUsualPostgres } from '../support/own-servers.ts'
import { keySecretsSetting } from '../support/serve-process.ts'
import { createEmptyStores } from '../support/stores.ts'

const { before, after, test } = needing('PostgreSQL')

let server: OwnServer
let stores: Awaited<ReturnType<typeof createEmptyStores>>
const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const section = page.split('\n## PostgreSQL\n')[1]?.split('\n## ')[0] as string
const own = userInfo().username

/** The commands of the page, as the administrator that distributions set up. */
function asAdministrator(commands: string): void {
  const administrator = process.getuid?.() === 0 ? 'setpriv --reuid=postgres --regid=postgres --init-groups' : ''
  execFileSync('sh', ['-ec', commands.replaceAll('sudo -u postgres', administrator)], {
    cwd: '/',
    env: { PATH: process.env.PATH, PGHOST: server.folder, PGPORT: `${server.port}`, PGUSER: 'postgres' },
  })
}

const migrate = (DATABASE_URL: string) =>
  runFootfall(['migrate'], {
    DATABASE_URL,
    CLICKHOUSE_URL: stores.stores.addresses.clickhouse,
    KEY_SECRETS: keySecretsSetting,
  })

/** The documented address of this kind, with the port and the folder of this server. */
function documented(kind: RegExp): string {
  const [address = ''] = [...section.matchAll(/DATABASE_URL=([^`\s]+)/g)].flatMap(([, text = '']) =>
    kind.test(text) ? [text] : [],
  )
  assert.notEqual(address, '')
  return address
    .replace(':5432', `:${server.port}`)
    .replace('@localhost/', `@localhost:${server.port}/`)
    .replace('/var/run/postgresql', server.folder)
}

before(async () => {
  server = await startUsualPostgres()
  stores = await createEmptyStores()
  asAdministrator(/```sh\n([\s\S]*?)```/.exec(section)?.[1] as string)
  asAdministrator(`sudo -u postgres psql --quiet --command 'CREATE ROLE "${own}" LOGIN' || true`)
})
after(async () => {
  await Promise.all([server?.remove(), stores?.remove()])
})

test('the documented commands and the documented address are all that migrate needs', async () => {
  const { code, stderr, stdout } = await migrate(documented(/127\.0\.0\.1/))
  assert.equal(code, 0, stderr)
  assert.match(stdout, /applied postgres\/0001_baseline\.sql/)
})

test('a folder of a socket is a host: as documented, as a host with %2F, and without a host', async () => {
  const socket = documented(/\?host=/).replace('footfall@', `${own}@`)
  for (const address of [
    socket,
    socket.replace(`@localhost:${server.port}/`, '@/').concat(`&port=${server.port}`),
    `postgres://${own}@${encodeURIComponent(server.folder)}:${server.port}/footfall`,
  ]) {
    const { code, stderr } = await runFootfall(['site', 'list'], {
      DATABASE_URL: address,
      KEY_SECRETS: keySecretsSetting,
    })
    // It is in: the role may not read the tables, which the role footfall owns.
    assert.match(
      stderr,
      /^footfall: The PostgreSQL user may not do that \(permission denied for table sites\)/,
      address,
    )
    assert.equal(code, 1)
  }
  const postgres = openPostgres(socket, 1)
  const reserved = await postgres.reserve() // a connection of its own
  assert.deepEqual(
    [...(await reserved`SELECT current_user AS user, inet_server_port() AS port`)],
    [{ user: own, port: null }],
  )
  reserved.release()
  await postgres.end()
})

test('whoever may not create the database, or is refused, reads what to do', async () => {
  const address = new URL(documented(/127\.0\.0\.1/))
  const at = (change: Partial<URL>) => Object.assign(new URL(address), change).href
  const said = async (url: string) => (await migrate(url)).stderr
  assert.equal(
    await said(at({ pathname: '/other' })),
    'footfall: The database other does not exist, and the role footfall may not create it.\n  As an administrator, run: sudo -u postgres createdb --owner=footfall other\n',
  )
  assert.match(
    await said(at({ password: 'wrong' })),
    /^footfall: PostgreSQL refuses the password .*\n {2}Check the user and password in DATABASE_URL/,
  )
  assert.match(await said(at({ password: '' })), /^footfall: PostgreSQL .*password.*\n {2}.*password in DATABASE_URL/)
  const peer = await said(documented(/\?host=/))
  assert.match(
    peer,
    /^footfall: PostgreSQL refuses the user \(Peer authentication failed .*\n {2}.*docs\/operations\.md/,
  )
  const stopped = documented(/\?host=/).replace(server.folder, '/nowhere')
  assert.match(
    await said(stopped),
    /^footfall: A database does not answer \(connect ENOENT \/nowhere.*\n {2}Check that it runs, and DATABASE_URL/,
  )
  const doctor = await runFootfall(['doctor', '--json'], { DATABASE_URL: stopped, KEY_SECRETS: keySecretsSetting })
  assert.match(doctor.stdout, /does not answer \(connect ENOENT[^}]*its address: DATABASE_URL/)
})
