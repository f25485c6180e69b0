// How the mains and the command line get their settings.
import { type CollectorConfig, type Config, readConfig, variables } from '../config.ts'
import { exitWith } from '../process/error-hints.ts'
import { loadSettingsFile, takeEnvFile } from './settings-file.ts'

/** Adds the settings of one file to the environment, and returns the name of the file. */
export const loadSettings = (file?: string): string | undefined =>
  loadSettingsFile(process.env, Object.keys(variables), file)

/** For the mains: prints what is wrong without a stack trace and exits before anything starts. */
export function readConfigOrExit(unused: readonly string[] = []): Config {
  try {
    loadSettings(takeEnvFile(process.argv.slice(2)).file)
    return readConfig(process.env, unused)
  } catch (error) {
    exitWith(error as Error)
  }
}

export const readCollectorConfigOrExit = (): CollectorConfig =>
  readConfigOrExit(['KEY_SECRETS', 'OIDC_CLIENT_SECRET', 'SMTP_URL'])
