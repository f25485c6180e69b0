import type { Actor } from '../users/site-changes.ts'
import type { UserVisit } from './route.ts'

/** Who makes a change, for the audit log. */
export const actorOf = ({ session, address }: UserVisit): Actor => ({ actor: session.user.email, address })
