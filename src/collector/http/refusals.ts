// Every refusal of a whole request: code, status and wording (docs/errors.md). A single event that does not count is not refused but
// dropped with a reason (intake/intake.ts).
export const refusals = {
  invalid_body: {
    status: 400,
    message:
      'Send one event or a list of at most 50, for at most 10 sites, as JSON, such as {"name":"pageview","url":"https://example.com/","domain":"example.com"}.',
  },
  too_large: { status: 413, message: 'A request may have at most 65,536 bytes.' },
  not_found: { status: 404, message: 'There is nothing here. Events go to /api/event.' },
  method_not_allowed: { status: 405, message: 'Send events with POST.' },
  address_limit: {
    status: 429,
    message: 'Too many events from this address. Send again after the seconds in Retry-After.',
  },
  site_limit: { status: 429, message: 'Too many events for this site. Send again after the seconds in Retry-After.' },
  unavailable: { status: 503, message: 'Events cannot be stored right now. Please send them again.' },
} as const satisfies Record<string, { status: number; message: string }>

export type RefusalCode = keyof typeof refusals

/** Thrown to refuse a request. */
export class Refusal extends Error {
  readonly code: RefusalCode
  /** For Retry-After, with status 429 and 503. */
  readonly waitSeconds: number

  constructor(code: RefusalCode, waitSeconds = 1) {
    super(refusals[code].message)
    this.code = code
    this.waitSeconds = waitSeconds
  }
}
