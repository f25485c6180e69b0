// All commands; the help and docs/commands.md are made from this table. Only the command that somebody types is loaded: all of them
// together take 0.15 s of CPU, most take 0.03 s.
import type { Command } from './command.ts'

/** A command, or a group of subcommands by their names. */
export type Entry = Command | Readonly<Record<string, Command>>
export type Commands = Readonly<Record<string, Entry>>

/** Grouped by task, in the order in which a new operator needs them. */
const tasks: Readonly<Record<string, Readonly<Record<string, () => Promise<Entry>>>>> = {
  'Install and run': {
    secret: async () => (await import('./secret.ts')).secret,
    migrate: async () => (await import('./migrate.ts')).migrate,
    serve: async () => (await import('./serve.ts')).serve,
    doctor: async () => (await import('./doctor.ts')).doctor,
  },
  'Accounts, people, sites, goals, notes, keys and mail': {
    account: async () => (await import('./account.ts')).account,
    user: async () => (await import('./user.ts')).user,
    site: async () => (await import('./site.ts')).site,
    goal: async () => (await import('./goal.ts')).goal,
    note: async () => (await import('./note.ts')).note,
    key: async () => (await import('./key.ts')).key,
    mail: async () => (await import('./mail.ts')).mail,
  },
  Traffic: {
    stats: async () => (await import('./stats.ts')).stats,
    event: async () => (await import('./event.ts')).event,
    report: async () => (await import('./report.ts')).report,
    mcp: async () => (await import('./mcp.ts')).mcp,
    import: async () => (await import('./import.ts')).importCommand,
    'import list': async () => (await import('./import.ts')).importList,
    'import undo': async () => (await import('./import.ts')).importUndo,
    demo: async () => (await import('./demo.ts')).demo,
  },
  'Maintain the data': {
    rollup: async () => (await import('./rollup.ts')).rollup,
    backup: async () => (await import('./backup.ts')).backup,
    'backup verify': async () => (await import('./backup-verify.ts')).backupVerify,
    restore: async () => (await import('./backup.ts')).restore,
    shard: async () => (await import('./shard.ts')).shard,
    collector: async () => (await import('./collector.ts')).collector,
  },
}

const loaders = Object.assign({}, ...Object.values(tasks)) as (typeof tasks)[string]

/** The command or group of this name. */
export async function entryOf(name: string): Promise<Entry | undefined> {
  return Object.hasOwn(loaders, name) ? loaders[name]?.() : undefined
}

/** Everything, by task: for documents about all commands. */
export async function loadTasks(): Promise<Readonly<Record<string, Commands>>> {
  const loaded: Record<string, Commands> = {}
  for (const [task, some] of Object.entries(tasks)) {
    const entries = Object.entries(some).map(async ([name, load]): Promise<[string, Entry]> => [name, await load()])
    loaded[task] = Object.fromEntries(await Promise.all(entries))
  }
  return loaded
}

/** `site create` and `doctor`: the name and the command of each line that somebody can type. */
export const linesOf = (commands: Commands): [name: string, command: Command][] =>
  Object.entries(commands).flatMap(([name, entry]): [string, Command][] =>
    isCommand(entry)
      ? [[name, entry]]
      : Object.entries(entry).map(([sub, command]): [string, Command] => [`${name} ${sub}`, command]),
  )

export function isCommand(entry: Entry): entry is Command {
  return typeof entry.run === 'function'
}
