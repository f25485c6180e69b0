// The uploaded files of this process, until they are imported. What somebody wants done with them, and how far it is, stands in PostgreSQL, so
// that any process can show and change it (decision D-249).
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Site } from '../../accounts/sites.ts'
import type { Config } from '../../config.ts'
import { hourMs } from '../../durations.ts'
import { pathOfOpen } from '../../importing/nameless.ts'
import { addUpload, reportUpload, uploadSeen, type Wanted } from '../../importing/uploads.ts'
import type { Outbox } from '../../mail/outbox.ts'
import type { Postgres } from '../../stores/postgres.ts'
import type { Actor } from '../../users/audit-log.ts'
import { Refusal } from '../refusals.ts'
import { closeFiles, type Received, type ReceivedFile, receiveFiles } from './receiving.ts'
import type { UploadMessage, UploadTask } from './thread.ts'

export interface Uploads {
  /** What may be sent at once; 0 if nothing may. */
  maxBytes: number
  /** Throws `Refusal`. */
  receive(request: IncomingMessage, isOurs: (token: string | null) => boolean): Promise<Received>
  /** Takes the files, and begins to check them. Returns false if another upload of the site is not over. */
  add(site: Site, actor: Actor, upload: { files: readonly ReceivedFile[]; kind: string }): Promise<boolean>
  close(): Promise<void>
}

/** Files of one upload. */
interface Held {
  id: string
  siteId: string
  files: readonly ReceivedFile[]
  kind: string
  receivedAt: number
  progress: number
  thread: Worker | undefined
}

/** Of all sites. Sites have one each, so a few owners of many sites cannot fill the disk. */
const maxHeld = 10
const everyMs = 1_000
/** Sorting needs about 150 MB, and a file is read in pieces. */
const maxHeapMegabytes = 400

const failedHere =
  'Something failed on our side. Upload the files again: what is imported already is not imported twice.'

interface UploadServices {
  config: UploadTask['config'] & Pick<Config, 'UPLOAD_MAX_MB'>
  postgres: Postgres
  outbox: Outbox | undefined
  log: Logger
}

export function openUploads({ config, postgres, outbox, log }: UploadServices): Uploads {
  const all = new Map<string, Held>()
  const maxBytes = config.UPLOAD_MAX_MB * 1e6
  let receiving = 0
  let isLooking = false
  const timer = setInterval(() => void look(), everyMs).unref()

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    for (const held of [...all.values()]) {
      try {
        const wanted = await uploadSeen(postgres, held.id, held.progress)
        if (!wanted || wanted.state === 'imported' || wanted.state === 'failed') drop(held)
        else if (!held.thread) await act(held, wanted)
      } catch (err) {
        log.warn({ err }, 'the state of uploaded files cannot be read; trying again')
      }
    }
    isLooking = false
  }

  async function act(held: Held, { state, until, createdBy, address }: Wanted): Promise<void> {
    if (state === 'waiting') {
      if (Date.now() - held.receivedAt < hourMs) return
      const fault = 'Nobody started the import within an hour, so the files were deleted. Upload them again.'
      return reportUpload(postgres, held.id, { state: 'failed', fault })
    }
    // One at a time, because API and collector may be on this machine.
    if ([...all.values()].some(({ thread }) => thread)) return
    const task = state === 'checking' ? 'check' : 'import'
    if (task === 'import') await reportUpload(postgres, held.id, { state: 'importing' })
    start(held, { task, until, actor: { actor: createdBy, address } })
  }

  function start(held: Held, { task, until, actor }: Pick<UploadTask, 'task' | 'until' | 'actor'>): void {
    const workerData: UploadTask = {
      task,
      until,
      actor,
      siteId: held.siteId,
      kind: held.kind,
      files: held.files.map(({ name, file }) => ({ name, path: pathOfOpen(file) })),
      config: {
        DATABASE_URL: config.DATABASE_URL,
        CLICKHOUSE_URL: config.CLICKHOUSE_URL,
        CLICKHOUSE_SHARDS: config.CLICKHOUSE_SHARDS,
        COUNTRY_FILE: config.COUNTRY_FILE,
      },
      outbox,
    }
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMegabytes }
    const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData, resourceLimits })
    held.thread = thread
    held.progress = 0
    let end: UploadMessage['end']
    thread.on('message', (message: UploadMessage) => {
      held.progress = message.progress ?? held.progress
      end ??= message.end
    })
    thread.on('error', (err) => {
      log.error({ err, siteId: held.siteId }, 'uploaded files could not be imported')
      end = { state: 'failed', fault: failedHere }
    })
    thread.on('exit', () => {
      if (held.thread !== thread) return // somebody has discarded the files
      const { id } = held
      reportUpload(postgres, id, end ?? { state: 'failed', fault: failedHere })
        .catch((err) => log.warn({ err }, 'the end of an import of uploaded files could not be noted'))
        .finally(() => {
          held.thread = undefined
          if (end?.state !== 'waiting') drop(held)
        })
    })
  }

  function drop(held: Held): void {
    const { id, files, thread } = held
    all.delete(id)
    held.thread = undefined
    void Promise.resolve(thread?.terminate()).finally(() => closeFiles(files))
  }

  return {
    maxBytes,
    async receive(request, isOurs) {
      if (all.size + receiving >= maxHeld) throw new Refusal('uploads_busy', 60)
      receiving++
      try {
        return await receiveFiles(request, { maxBytes, isOurs })
      } finally {
        receiving--
      }
    },
    async add(site, { actor, address = '' }, { files, kind }) {
      const id = randomUUID()
      const names = files.map(({ name }) => name)
      if (!(await addUpload(postgres, { id, siteId: site.id, files: names, createdBy: actor, address }))) return false
      all.set(id, { id, siteId: site.id, files, kind, receivedAt: Date.now(), progress: 0, thread: undefined })
      await look()
      return true
    },
    async close() {
      clearInterval(timer)
      await Promise.all([...all.values()].map(({ thread }) => thread?.terminate()))
      for (const { files } of all.values()) closeFiles(files)
      all.clear()
    },
  }
}
