import { isbot } from 'isbot'

/** Whoever does not say what they are is a program too. */
export const isBot = (userAgent: string): boolean => userAgent.trim() === '' || isbot(userAgent)
