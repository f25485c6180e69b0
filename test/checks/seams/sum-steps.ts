// Steps of a walk that import daily sums of another product, and take them back.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../support/random.ts'
import { pause } from '../runner.ts'
import type { ImportOfSums, Model, SiteSettings } from './model.ts'
import type { Walk } from './steps.ts'
import { archiveOf } from './sum-files.ts'

interface Listed {
  id: string
  state: string
  files: string[]
}

const nameOf = (number: number): string => `sums-${number}.zip`

async function findImport({ installation }: Walk, domain: string, number: number): Promise<Listed | undefined> {
  const { stdout } = await installation.footfall(['import', 'list', domain, '--json'])
  const list = JSON.parse(stdout) as Listed[]
  return list.find(({ state, files }) => state !== 'undone' && files[0] === nameOf(number))
}

export async function importSums(walk: Walk, random: Random, site: SiteSettings): Promise<Model> {
  const { installation, model } = walk
  const number = random.below(3)
  const path = join(installation.folder, nameOf(number))
  writeFileSync(path, archiveOf(number))
  const words = ['import', site.domain, path, '--until', '2025-01-01', '--beside-events']
  // A command that is killed, or whose connections are ended, is repeated.
  const trouble = random.pick(['kill', 'kill', 'cut', 'none'])
  if (trouble === 'kill') {
    await installation.footfall(words, 300 + random.below(1_500))
  } else if (trouble === 'cut') {
    const cut = (async () => {
      await pause(300 + random.below(900))
      await installation.endConnections()
    })()
    await installation.footfall(words)
    await cut
  }
  const { code, stderr } = await installation.footfall(words)
  if (code !== 0) throw new Error(`footfall import of sums: ${stderr}`)
  if (model.settings.sums.some((one) => one.siteId === site.id && one.number === number)) return model
  const found = await findImport(walk, site.domain, number)
  if (!found) throw new Error(`sums ${number} of ${site.domain} are not listed`)
  const [row] = await installation.stores().postgres<{ version: string }[]>`
    SELECT DISTINCT version FROM imported_days WHERE import_id = ${found.id}`
  if (!row) throw new Error(`sums ${number} of ${site.domain} have no days`)
  const imported: ImportOfSums = { siteId: site.id, number, importId: found.id, version: row.version }
  // Rows of the same import that only a newer PostgreSQL knew are gone.
  const others = model.traffic.sums.filter(({ siteId, importId }) => siteId !== site.id || importId !== found.id)
  return {
    settings: { ...model.settings, sums: [...model.settings.sums, imported] },
    traffic: { ...model.traffic, sums: [...others, imported] },
  }
}

export async function undoSums(walk: Walk, random: Random): Promise<Model> {
  const { installation, model } = walk
  if (model.settings.sums.length === 0) return model
  const { siteId, importId } = random.pick(model.settings.sums)
  const site = model.settings.sites.find(({ id }) => id === siteId)
  if (!site) throw new Error(`there is no site ${siteId}`)
  const words = ['import', 'undo', site.domain, importId]
  if (random.oneIn(2)) await installation.footfall(words, 300 + random.below(1_200))
  const { code, stderr } = await installation.footfall(words)
  if (code !== 0 && !/was undone before/.test(stderr)) throw new Error(`footfall import undo of sums: ${stderr}`)
  const isOther = (one: ImportOfSums) => one.siteId !== siteId || one.importId !== importId
  return {
    settings: { ...model.settings, sums: model.settings.sums.filter(isOther) },
    traffic: { ...model.traffic, sums: model.traffic.sums.filter(isOther) },
  }
}
