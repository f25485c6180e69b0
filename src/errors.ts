// Every error that the API can return: code, status, message, and advice for the caller (docs/contract.md 7, docs/errors.md). Throw an
// ApiError to refuse a request. Any other exception is a bug and becomes internal_error.

export const errors = {
  unauthorized: {
    status: 401,
    message: 'Send your API key as "Authorization: Bearer <API_KEY>".',
    whatToDo: 'Send the key as `Authorization: Bearer <API_KEY>`, with nothing else in the header.',
  },
  invalid_key: {
    status: 401,
    message:
      'This API key does not exist. Check it for typing errors, or create a new one in the site settings under "API keys".',
    whatToDo:
      'Check the key for typing errors and cut-off ends; if it was deleted, create a new one under "API keys" (`/sites/<domain>/settings/keys`).',
  },
  key_disabled: {
    status: 401,
    message: 'This API key is disabled. Enable it in the site settings under "API keys".',
    whatToDo: 'Enable the key in the site settings under "API keys" (`/sites/<domain>/settings/keys`).',
  },
  key_expired: {
    status: 401,
    message: 'This API key has expired. Change its expiry or create a new one in the site settings under "API keys".',
    whatToDo: 'Give the key a later expiry date or rotate it there, in time: the page warns 14 days before.',
  },
  plan_required: {
    status: 403,
    message: 'API access needs the Starter plan or a higher one. "API keys" in the site settings says what to do.',
    whatToDo:
      'Move the account to the Starter plan or a higher one: `footfall account plan`. The key then works within a second.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'Rate limit reached. Try again after the time in X-RateLimit-Reset.',
    whatToDo: 'Wait until `X-RateLimit-Reset` (or for `Retry-After` seconds), or choose a plan with a higher limit.',
  },
  site_required: {
    status: 400,
    message: 'This is an account key: name the site with the site_id parameter.',
    whatToDo: 'Name the site with `site_id`: an account key reads all sites that `/api/v1/sites` lists.',
  },
  forbidden: {
    status: 403,
    message: 'This API key has no access to the requested site.',
    whatToDo: 'Check `site_id`: the site does not exist, or belongs to another account or another key.',
  },
  unsupported_filter: {
    status: 400,
    message: 'Filters on browser, os and channel are not supported.',
    whatToDo: 'Leave out `browser`, `os` and `channel`; the API has no such filters.',
  },
  invalid_parameter: {
    status: 400,
    message: 'A query parameter has an invalid value.',
    whatToDo: 'Read `message`: it names the parameter and what is allowed. Send each parameter once.',
  },
  invalid_date: {
    status: 400,
    message: 'start and end must be dates such as 2026-01-31.',
    whatToDo: 'Send `start` and `end` as existing dates, such as `2026-01-31`; `start` must not be after `end`.',
  },
  invalid_filter: {
    status: 400,
    message: 'A filter must be written as dimension:operator:value, such as page:is:/pricing.',
    whatToDo:
      'Read `message`: it names the part of the filter. Write `\\,` for a comma in a value and `\\\\` for a backslash.',
  },
  range_not_kept: {
    status: 400,
    message: 'This question needs single visits, which are no longer kept for these days.',
    whatToDo:
      'Ask for days from the one that `message` names, or leave out the filters and dimensions that need single visits.',
  },
  query_too_expensive: {
    status: 400,
    message: 'This question would take longer than a request may take.',
    whatToDo: 'Do what `message` says: ask for fewer days, or with fewer filters.',
  },
  too_many_streams: {
    status: 429,
    message: 'This key has as many open streams as a key may have. Close one of them first.',
    whatToDo: 'Close a stream of the key, or let several readers share one; an open stream needs no polling.',
  },
  not_found: {
    status: 404,
    message: 'There is nothing here. The endpoints are described at /api/v1/docs.',
    whatToDo: 'Check the path against the list of endpoints at `/api/v1/docs`.',
  },
  method_not_allowed: {
    status: 405,
    message: 'Only GET, HEAD and OPTIONS are allowed here.',
    whatToDo: 'Use GET or HEAD; the API is read-only.',
  },
  internal_error: {
    status: 500,
    message: 'Something failed on our side. Please try again.',
    whatToDo: 'Try again after `Retry-After` seconds. If it persists, report it with the value of `X-Request-Id`.',
  },
} as const satisfies Record<string, { status: number; message: string; whatToDo: string }>

export type ErrorCode = keyof typeof errors

export class ApiError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string = errors[code].message) {
    // A refusal is an answer, not a bug: nobody reads its stack trace, and the trace costs 3 µs, a tenth of the request.
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
