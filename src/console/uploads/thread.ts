// Checks or imports uploaded files on a thread of its own, with low priority, so that pages are answered meanwhile.
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { findSite } from '../../accounts/sites.ts'
import { openCluster } from '../../cluster/cluster.ts'
import type { Config } from '../../config.ts'
import { openCountries } from '../../enrichment/country.ts'
import { type Checked, FileFaults, type ImportFile } from '../../importing/checking.ts'
import { formatOf, formats } from '../../importing/formats/formats.ts'
import { type ImportContext, importFiles, previewFiles } from '../../importing/job.ts'
import { sumsFormatOf } from '../../importing/sums/formats.ts'
import { defaultUntil } from '../../importing/until.ts'
import type { UploadChange, UploadPreview } from '../../importing/uploads.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { whileOnItsShard } from '../../moving/writing.ts'
import { openPostgres } from '../../stores/postgres.ts'
import type { Actor } from '../../users/audit-log.ts'
import { importFinished } from '../../users/imports.ts'

export interface UploadTask {
  task: 'check' | 'import'
  siteId: string
  files: readonly Pick<ImportFile, 'name' | 'path'>[]
  /** Empty: it is seen from how the files begin. */
  kind: string
  /** Null: the default for a check, none for an import. */
  until: string | null
  actor: Actor
  config: Pick<Config, 'DATABASE_URL' | 'CLICKHOUSE_URL' | 'CLICKHOUSE_SHARDS' | 'COUNTRY_FILE'>
  outbox: Outbox | undefined
}

export interface UploadMessage {
  /** From 0 to 1. */
  progress?: number
  end?: UploadChange
}

/** On a busy core it gets a third of the share of other threads. */
const priority = 5
// On Linux 0 is this thread. Elsewhere it is the whole process, which must stay as it is.
if (process.platform === 'linux') setPriority(0, Math.max(priority, getPriority(0)))

const { task, siteId, files, kind, until, actor, config, outbox } = workerData as UploadTask

const tell = (message: UploadMessage) => parentPort?.postMessage(message)

/** ClickHouse's READONLY and ACCESS_DENIED. */
const mayOnlyRead = new Set(['164', '497'])

async function run(): Promise<UploadChange> {
  const postgres = openPostgres(config.DATABASE_URL, 4)
  const cluster = openCluster(config)
  const countries = await openCountries(config.COUNTRY_FILE)
  try {
    return await whileOnItsShard(postgres, siteId, async () => {
      const site = await findSite(postgres, siteId)
      if (!site) return { state: 'failed', fault: 'The site was deleted.' }
      const clickhouse = cluster.of(site)
      const given = files.map(importFile)
      const last = until ?? (task === 'check' ? await defaultUntil(clickhouse, siteId, given) : undefined)
      let toldAt = 0
      const context: ImportContext = {
        postgres,
        clickhouse,
        countries,
        site,
        until: last,
        now: Date.now(),
        onProgress(step, done, total) {
          if (Date.now() - toldAt < 200) return
          toldAt = Date.now()
          const share = total === 0 ? 1 : done / total
          // An import checks once more, which takes about half of the time.
          tell({ progress: task === 'check' ? share : (share + Number(step === 'importing')) / 2 })
        },
        onFinish: (transaction, finished) => importFinished(transaction, actor, site, finished, withBuffers(outbox)),
      }
      return task === 'check' ? check(given, context) : importChecked(given, context)
    })
  } catch (error) {
    if (error instanceof FileFaults) return { state: 'failed', fault: error.message }
    if ((error as { code?: string }).code === 'ENOSPC')
      return { state: 'failed', fault: 'The disk of the server is full. Nothing was imported twice; try again later.' }
    if (mayOnlyRead.has(String((error as { code?: string }).code)))
      return {
        state: 'failed',
        fault:
          'This console may only read its database. Ask whoever runs this Footfall to import the files with the command footfall import.',
      }
    throw error
  } finally {
    countries.close()
    await Promise.all([postgres.end({ timeout: 1 }), cluster.close()])
  }
}

function importFile(file: UploadTask['files'][number]): ImportFile {
  if (kind === '' && sumsFormatOf(file.path))
    throw new FileFaults([
      `${file.name} has daily sums, which only the command imports. Ask whoever runs this Footfall to import it with footfall import.`,
    ])
  const format = formats.find(({ name }) => name === kind) ?? formatOf(file.path, file.name)
  if (!format) throw new FileFaults([`It is unknown what ${file.name} is. Upload it again, and choose its kind.`])
  return { ...file, format }
}

async function check(given: readonly ImportFile[], context: ImportContext): Promise<UploadChange> {
  const checked = await previewFiles(given, context)
  return { state: 'waiting', until: context.until ?? null, preview: previewOf(checked) }
}

async function importChecked(given: readonly ImportFile[], context: ImportContext): Promise<UploadChange> {
  const { imported, events, days } = await importFiles(given, context)
  return { state: 'imported', outcome: { wasThere: imported === 'was', events, days } }
}

const previewOf = ({ files, events, leftOut, broken, days }: Checked): UploadPreview => ({
  kind: [...new Set(files.map(({ format }) => format.name))].join(', '),
  events,
  leftOut: Object.fromEntries(leftOut),
  broken,
  days: days ?? null,
})

/** A message between threads turns buffers into arrays of bytes. */
const withBuffers = (sent: Outbox | undefined): Outbox | undefined =>
  sent && {
    ...sent,
    secrets: sent.secrets.map(({ version, secret }) => ({ version, secret: Buffer.from(secret) })) as never,
  }

const end = await run()
tell({ end })
