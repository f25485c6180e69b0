// Every command there is; the help and docs/commands.md follow this table.
import { account } from './account.ts'
import { backup, restore } from './backup.ts'
import type { Command } from './command.ts'
import { demo } from './demo.ts'
import { doctor } from './doctor.ts'
import { fold } from './fold.ts'
import { importCommand } from './import.ts'
import { key } from './key.ts'
import { migrate } from './migrate.ts'
import { secret } from './secret.ts'
import { serve } from './serve.ts'
import { site } from './site.ts'

export type Commands = Readonly<Record<string, Command | Readonly<Record<string, Command>>>>

/** By task, in the order in which a new operator needs them. */
export const tasks: Readonly<Record<string, Commands>> = {
  'Install and run': { secret, migrate, serve, doctor },
  'Sites, and who may read them': { account, site, key },
  Traffic: { import: importCommand, demo },
  'Look after the data': { fold, backup, restore },
}

export const commands: Commands = Object.assign({}, ...Object.values(tasks))
