// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const basics = 'test/console/single-sign-on.test.ts'
const attacks = 'test/console/single-sign-on-attacks.test.ts'
const connection = 'test/console/single-sign-on-connection.test.ts'
const faults = 'test/console/single-sign-on-faults.test.ts'
const link = 'test/console/sign-in-link.test.ts'

/** Breakages of single sign-on and of the link that signs in. */
export const consoleSignOn: readonly Mutation[] = [
  {
    name: 'single sign-on: the subject of any issuer signs in',
    file: 'src/users/identities.ts',
    find: 'WHERE issuer = ${issuer} AND subject = ${subject}`',
    replace: "WHERE issuer <> ${issuer + 'x'} AND subject = ${subject}`",
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: a user is found by the email',
    file: 'src/console/pages/single-sign-on.ts',
    find: "if (!email || (await findUser(transaction, email))) throw new Refusal('unknown_identity')",
    replace:
      "const same = email && (await findUser(transaction, email))\n    if (same) return beginSession(visit, transaction, same, signedOn)\n    if (!email) throw new Refusal('unknown_identity')",
    caughtBy: basics,
  },
  {
    name: 'single sign-on: an unverified email counts',
    file: 'src/console/provider.ts',
    find: 'return email_verified === true && isEmail(address)',
    replace: 'return email_verified !== undefined && isEmail(address)',
    caughtBy: basics,
  },
  {
    name: 'single sign-on: every word counts as verified',
    file: 'src/console/provider.ts',
    find: 'return email_verified === true && isEmail(address)',
    replace: 'return email_verified && isEmail(address)',
    caughtBy: basics,
  },
  {
    name: 'single sign-on: a domain that ends alike may join',
    file: 'src/console/pages/single-sign-on.ts',
    find: "email.split('@')[1] !== domain",
    replace: "!email.endsWith(domain ?? '')",
    caughtBy: basics,
  },
  {
    name: 'single sign-on: the email of another domain may join',
    file: 'src/console/pages/single-sign-on.ts',
    find: "!accountId || email.split('@')[1] !== domain",
    replace: '!accountId || domain === undefined',
    caughtBy: basics,
  },
  {
    name: 'single sign-on: an invitation is accepted with any email',
    file: 'src/console/pages/single-sign-on.ts',
    find: 'if (invited && invited.email !== email)',
    replace: 'if (invited && !invited.email)',
    caughtBy: basics,
  },
  {
    name: 'single sign-on: two browsers make two users',
    file: 'src/console/pages/single-sign-on.ts',
    find: '    await lockIdentities(transaction)\n',
    replace: '',
    caughtBy: basics,
  },
  {
    name: 'single sign-on: the way back leaves the console',
    file: 'src/console/pages/single-sign-on.ts',
    find: "ownPath(visit.query.get('next'))",
    replace: "ownPath('/') && (visit.query.get('next') ?? '/')",
    caughtBy: basics,
  },
  {
    name: 'single sign-on: the state is not checked',
    file: 'src/console/provider.ts',
    find: 'expectedState: state,',
    replace: "expectedState: query.get('state') ?? state,",
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: the nonce is always the same',
    file: 'src/console/provider.ts',
    find: 'nonce: randomNonce()',
    replace: 'nonce: randomNonce.name',
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: the signature of a token is not checked',
    file: 'src/console/provider.ts',
    find: 'execute: [enableNonRepudiationChecks, ...',
    replace: 'execute: [...(issuer === "" ? [enableNonRepudiationChecks] : []), ...',
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: a cookie that we did not sign is believed',
    file: 'src/console/sign-on-flow.ts',
    find: "const text = flowCookie && signedText(services.keySecrets, 'sign-on flow', flowCookie)",
    replace:
      "const text = flowCookie && (signedText(services.keySecrets, 'sign-on flow', flowCookie) ?? flowCookie.split('.')[0])",
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: a flow lasts for ever',
    file: 'src/console/sign-on-flow.ts',
    find: 'return services.now() < flow.until ? flow : undefined',
    replace: 'return flow.until > 0 ? flow : undefined',
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: wrong answers are not limited',
    file: 'src/users/attempts.ts',
    find: 'attemptOf([[addresses, String(networkKey(clientAddress))]])',
    replace: 'attemptOf([[addresses, crypto.randomUUID() + clientAddress]])',
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: the cause of an error is logged',
    file: 'src/console/provider.ts',
    find: 'reason: reasonOf(error) }',
    replace: 'reason: reasonOf(error) + (error as Error).cause }',
    caughtBy: attacks,
  },
  {
    name: 'single sign-on: what one user began connects another',
    file: 'src/console/pages/single-sign-on.ts',
    find: 'if (session?.user.id !== userId)',
    replace: 'if (!session)',
    caughtBy: connection,
  },
  {
    name: 'single sign-on: connecting needs no password',
    file: 'src/console/pages/sign-on-connection.ts',
    find: 'if (!(await isOwnPassword(visit))) return',
    replace: 'if (!visit && !(await isOwnPassword(visit))) return',
    caughtBy: connection,
  },
  {
    name: 'single sign-on: connecting needs no code',
    file: 'src/console/pages/sign-on-connection.ts',
    find: '  if (hasSecondFactor) {\n',
    replace: '  if (hasSecondFactor && !id) {\n',
    caughtBy: connection,
  },
  {
    name: 'single sign-on: a slow provider is waited for',
    file: 'src/console/provider.ts',
    find: 'const deadlineSeconds = 5',
    replace: 'const deadlineSeconds = 25',
    caughtBy: faults,
  },
  {
    name: 'single sign-on: the provider is discovered every time',
    file: 'src/console/provider.ts',
    find: 'const discoveredMs = 3_600_000',
    replace: 'const discoveredMs = 0',
    caughtBy: faults,
  },
  {
    name: 'single sign-on: a failed discovery is kept',
    file: 'src/console/provider.ts',
    find: '      discovered = undefined\n',
    replace: '',
    caughtBy: faults,
  },
  {
    name: 'sign-in link: opening it signs in',
    file: 'src/console/pages/sign-in-link.ts',
    find: "path: '/sign-in/:token', access: 'everyone', handle: ask }",
    replace: "path: '/sign-in/:token', access: 'everyone', handle: signIn }",
    caughtBy: link,
  },
  {
    name: 'sign-in link: it works twice',
    file: 'src/console/pages/sign-in-link.ts',
    find: "if (!(await takeLink(transaction, 'sign-in', params.token as string)))",
    replace: "if (!(await findLink(transaction, 'sign-in', params.token as string)) && takeLink)",
    caughtBy: link,
  },
  {
    name: 'sign-in link: it replaces the second factor',
    file: 'src/console/pages/sign-in-link.ts',
    find: 'if (user.hasSecondFactor) return',
    replace: 'if (user.hasSecondFactor && !user) return',
    caughtBy: link,
  },
]
