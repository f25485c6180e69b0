// Every refusal the API can give: code, status, wording (docs/contract.md 7, docs/errors.md). Throw an ApiError to
// refuse; anything else that is thrown is a bug and becomes internal_error.

export const errors = {
  unauthorized: { status: 401, message: 'Send your API key as "Authorization: Bearer <API_KEY>".' },
  invalid_key: {
    status: 401,
    message: 'This API key does not exist. Check it for typing errors, or create a new one.',
  },
  key_disabled: { status: 401, message: 'This API key is disabled. Enable it in the site settings under "API keys".' },
  key_expired: {
    status: 401,
    message: 'This API key has expired. Extend it or create a new one in the site settings.',
  },
  plan_required: { status: 403, message: 'API access needs the Starter plan or a higher one.' },
  rate_limit_exceeded: { status: 429, message: 'Rate limit reached. Try again after the time in X-RateLimit-Reset.' },
  site_required: { status: 400, message: 'This is an account key: name the site with the site_id parameter.' },
  forbidden: { status: 403, message: 'This API key has no access to the requested site.' },
  unsupported_filter: { status: 400, message: 'Filters on browser, os and channel are not supported.' },
  invalid_parameter: { status: 400, message: 'A query parameter has an invalid value.' },
  invalid_date: { status: 400, message: 'start and end must be dates such as 2026-01-31.' },
  not_found: { status: 404, message: 'There is nothing here. The endpoints are described at /api/v1/docs.' },
  method_not_allowed: { status: 405, message: 'Only GET, HEAD and OPTIONS are allowed here.' },
  internal_error: { status: 500, message: 'Something failed on our side. Please try again.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errors

export class ApiError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string = errors[code].message) {
    // A refusal is an answer, not a bug: nobody reads where it was thrown, and the trace costs 3 µs, a tenth of the request.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
  }

  get status(): number {
    return errors[this.code].status
  }
}

export const errorBody = ({ code, message }: ApiError) => ({ error: { code, message } })
