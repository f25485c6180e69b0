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

export const commands: Record<string, Command | Record<string, Command>> = {
  serve,
  migrate,
  doctor,
  account,
  site,
  key,
  secret,
  demo,
  fold,
  import: importCommand,
  backup,
  restore,
}
