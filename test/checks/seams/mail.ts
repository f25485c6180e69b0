// Mail of a walk. What was queued and what arrived is known outside of all stores.
import type { AllStores } from '../../../src/cluster/stores.ts'
import { queueMessage } from '../../../src/mail/outbox.ts'
import { startMail } from '../../../src/mail/sender.ts'
import { createLog } from '../../../src/process/log.ts'
import { eventually } from '../../support/eventually.ts'
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts'
import { keySecrets } from '../../support/stores.ts'

export interface WalkMail {
  server: TestMailServer
  /** Messages that must arrive: queued, and not before a restore. */
  expected: Set<string>
}

const outbox = { secrets: keySecrets, publicUrl: 'https://stats.example.com' }
const letter = { subject: 'A link', text: 'A link', html: '<p>A link</p>' }
const log = createLog('silent')

export const openWalkMail = async (): Promise<WalkMail> => ({ server: await startMailServer(), expected: new Set() })

export async function queueMail({ expected }: WalkMail, { postgres }: AllStores): Promise<void> {
  const message = { kind: 'reset', recipient: 'maria@example.com', accountId: null, letter } as const
  expected.add(await queueMessage(postgres, outbox, message))
}

/** Sends what is in the outbox, and throws if a message that must arrive does not. */
export async function sendMail({ server, expected }: WalkMail, stores: AllStores): Promise<void> {
  const loop = startMail(stores, {
    settings: { server: server.server, from: { name: 'Footfall', address: 'stats@example.com' } },
    outbox,
    log,
    due: [],
    writeReport: async () => undefined,
  })
  try {
    await eventually(async () => {
      const arrived = arrivalsOf(server)
      const missing = [...expected].filter((id) => !arrived.includes(id))
      if (missing.length > 0) throw new Error(`Messages do not arrive: ${missing.join(', ')}`)
    })
  } finally {
    await loop.stop()
  }
}

/** Messages that arrived more than once. */
export const repeatedMail = ({ server }: WalkMail): string[] => {
  const arrived = arrivalsOf(server)
  return arrived.filter((id, index) => arrived.indexOf(id) < index)
}

const arrivalsOf = ({ received }: TestMailServer): string[] =>
  received.map(({ messageId }) => messageId.split('@')[0] as string)
