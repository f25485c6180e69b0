// What is kept for how long: events and backups. A part of the table in config.ts.
import { hour, keep, retention } from './parsers.ts'

export const keepingVariables = {
  RETENTION_MONTHS: {
    description:
      'Months of raw events to keep, at least 25. Rollups answer for older days, for ever. If unset, all events are kept. Dropped events cannot be restored.',
    optional: true,
    parse: retention,
  },
  BACKUP_FOLDER: {
    description:
      'Folder where `footfall serve` writes a backup every day. It must be readable by nobody else, and is best on another disk. If unset, you back up yourself (docs/operations.md).',
    optional: true,
    parse: (text: string) => text,
  },
  BACKUP_HOUR: {
    description:
      'Hour of the day, 0 to 23 in UTC, at which the backup begins. One that was missed begins as soon as Footfall runs again.',
    default: '3',
    parse: hour,
  },
  BACKUP_KEEP: {
    description:
      'Which of the backups in BACKUP_FOLDER to keep: the newest one of so many days, weeks and months that have one. The newest of all always stays.',
    default: '7d,4w,12m',
    parse: keep,
  },
} as const
