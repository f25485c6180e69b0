import assert from 'node:assert/strict'

/** How the message of a missed bound begins: test/support/summary.ts recognises it. */
export const late = 'Too late: '

/**
 * A bound in milliseconds, which a busy machine may miss without a fault of ours. A test file whose only failures are such bounds runs
 * again, twice at most; any other failure stands.
 */
export function inTime(isInTime: boolean, message: string): void {
  assert.ok(isInTime, `${late}${message}`)
}
