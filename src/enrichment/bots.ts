import { isbot } from 'isbot'

/** A client without a user agent counts as a bot too. */
export const isBot = (userAgent: string): boolean => userAgent.trim() === '' || isbot(userAgent)
