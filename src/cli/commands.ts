// All commands; the help and docs/commands.md are made from this table.
import { account } from './account.ts'
import { backup, restore } from './backup.ts'
import { backupVerify } from './backup-verify.ts'
import { collector } from './collector.ts'
import type { Command } from './command.ts'
import { demo } from './demo.ts'
import { doctor } from './doctor.ts'
import { goal } from './goal.ts'
import { importCommand } from './import.ts'
import { key } from './key.ts'
import { mail } from './mail.ts'
import { mcp } from './mcp.ts'
import { migrate } from './migrate.ts'
import { report } from './report.ts'
import { rollup } from './rollup.ts'
import { secret } from './secret.ts'
import { serve } from './serve.ts'
import { shard } from './shard.ts'
import { site } from './site.ts'
import { stats } from './stats.ts'
import { user } from './user.ts'

export type Commands = Readonly<Record<string, Command | Readonly<Record<string, Command>>>>

/** Grouped by task, in the order in which a new operator needs them. */
export const tasks: Readonly<Record<string, Commands>> = {
  'Install and run': { secret, migrate, serve, doctor },
  'Accounts, people, sites, goals, keys and mail': { account, user, site, goal, key, mail },
  Traffic: { stats, report, mcp, import: importCommand, demo },
  'Maintain the data': { rollup, backup, 'backup verify': backupVerify, restore, shard, collector },
}

export const commands: Commands = Object.assign({}, ...Object.values(tasks))
