// `footfall serve` as a real process, with content, for the check of the pages and for the pictures in docs.
import { freePort } from '../../../dev/clickhouse/server.ts'
import { launchServe } from '../../support/serve-process.ts'
import { connect, createStores, disconnect } from '../../support/stores.ts'
import type { Check } from '../runner.ts'
import { type Content, makeContent } from './content.ts'

export async function install(
  check: Check,
  settings: Record<string, string> = {},
): Promise<{ origin: string; content: Content }> {
  const created = await createStores()
  check.onEnd(created.remove)
  const stores = connect(created.addresses)
  check.onEnd(() => disconnect(stores))
  const { postgres, clickhouse } = created.addresses
  // Pages that send mail are shown as with a mail server; nothing is sent.
  const port = `${await freePort()}`
  const mail = {
    PUBLIC_URL: `http://localhost:${port}`,
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'stats@example.com',
  }
  const server = await launchServe({ postgres, clickhouse }, { LOG_LEVEL: 'warn', PORT: port, ...mail, ...settings })
  check.onEnd(() => server.kill())
  const content = await makeContent(stores, Date.now())
  await server.untilReady()
  return { origin: server.url.replace('127.0.0.1', 'localhost'), content }
}
