import { InvalidSetting } from '../accounts/site-rules.ts'
import { CommandError } from './command.ts'

/** Turns an invalid setting into an error of the command with its advice. Other errors stay as they are. */
export const asCommandError = (error: unknown): unknown =>
  error instanceof InvalidSetting ? new CommandError(error.message, error.advice) : error
