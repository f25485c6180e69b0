// Refusals of the console. A refusal is thrown anywhere and becomes a page.

export interface RefusalText {
  status: number
  title: string
  text: string
  /** Where the button leads, if not to all sites. */
  back?: { path: string; name: string }
}

const signIn = { path: '/login', name: 'Back to sign-in' }

export const refusals = {
  not_found: {
    status: 404,
    title: 'Nothing here',
    text: 'This page does not exist, or you have no access to it.',
  },
  owners_only: {
    status: 403,
    title: 'Only owners may do that',
    text: 'You may look at this account, but not change it. Ask one of its owners.',
  },
  foreign_form: {
    status: 403,
    title: 'This form is no longer valid',
    text: 'It was sent from another page or after signing out. Go back, reload the page and try again.',
  },
  spent_link: {
    status: 404,
    title: 'This link no longer works',
    text: 'It was used already, it has expired, or a newer one has replaced it. Ask an owner of the account for a new invitation. Whoever runs the server can also make a new link: footfall user create, or footfall user reset for a forgotten password.',
  },
  late: {
    status: 503,
    title: 'The database does not answer',
    text: 'Try again in a minute. If you sent a form, look first whether it was saved.',
  },
  provider_down: {
    status: 503,
    title: 'Single sign-on does not answer',
    text: 'The provider cannot be reached at the moment. Try again in a minute, or sign in with your password.',
    back: signIn,
  },
  sign_on_failed: {
    status: 400,
    title: 'Single sign-on did not work',
    text: 'It was cancelled, it took longer than ten minutes, or it was begun in another browser or tab. Start again.',
    back: signIn,
  },
  unknown_identity: {
    status: 403,
    title: 'Nobody here has this single sign-on',
    text: 'If you have a password here, sign in with it, and connect single sign-on under Your sign-in. Otherwise ask an owner of the account for an invitation, and open its link.',
    back: signIn,
  },
  other_email: {
    status: 403,
    title: 'This invitation is for another address',
    text: 'Your provider does not say that you have the address that was invited, or that it is verified. Open the invitation again and choose a password, or ask for an invitation to the address that your provider has.',
    back: signIn,
  },
  identity_taken: {
    status: 409,
    title: 'This single sign-on is connected already',
    text: 'Another user here may have connected it. Sign in as that user and disconnect it, or sign out at your provider and connect as yourself.',
    back: { path: '/account/security', name: 'Your sign-in' },
  },
  closed_link: {
    status: 404,
    title: 'This link does not work',
    text: 'It has expired, it was revoked, or a part of its address is missing. Ask whoever gave it to you for a new one.',
  },
  closed_mail_link: {
    status: 404,
    title: 'This link does not work',
    text: 'It was used already, it has expired, or a part of its address is missing. A report that you have confirmed comes without it. To stop a report, use the link at the end of its newest mail.',
  },
  opened_often: {
    status: 429,
    title: 'Too many requests',
    text: 'Shared links are opened very often right now. Try again in a few seconds.',
  },
  too_many_streams: {
    status: 429,
    title: 'Five live pages are open already',
    text: 'Close one of them, also on your other devices, and reload this one.',
  },
  too_large: { status: 413, title: 'That is too much', text: 'The form is larger than 64 kB.' },
  too_many: {
    status: 429,
    title: 'Too many attempts',
    text: 'Wait a few minutes, then try again.',
  },
  busy: {
    status: 503,
    title: 'Busy at the moment',
    text: 'Many people are signing in. Try again in a few seconds.',
  },
  files_too_large: {
    status: 413,
    title: 'These files are too large',
    text: 'The page of imports says how much may be sent at once. Pack the files with gzip, send fewer, or ask whoever runs this Footfall: the command footfall import reads files of any size.',
  },
  too_many_files: {
    status: 413,
    title: 'These are too many files',
    text: 'Send at most 400 at once.',
  },
  disk_full: {
    status: 507,
    title: 'There is no room for these files',
    text: 'The disk of the server is nearly full. Nothing was kept. Tell whoever runs this Footfall, or send less at once.',
  },
  uploads_busy: {
    status: 503,
    title: 'Others are importing right now',
    text: 'Too many files wait to be imported. Try again in some minutes.',
  },
  failed: {
    status: 500,
    title: 'That did not work',
    text: 'Something failed on our side. Nothing was changed. Try again in a moment.',
  },
} as const satisfies Record<string, RefusalText>

export type RefusalName = keyof typeof refusals

export class Refusal extends Error {
  readonly refusal: RefusalName
  readonly retryAfterSeconds: number | undefined

  constructor(refusal: RefusalName, retryAfterSeconds?: number) {
    super(refusals[refusal].title)
    this.refusal = refusal
    this.retryAfterSeconds = retryAfterSeconds
  }
}
