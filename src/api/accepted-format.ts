/**
 * Whether the Accept header prefers CSV to JSON (RFC 9110, 12.5.1). Only a client that names text/csv gets it: a wildcard means JSON, and so
 * does naming both with the same weight.
 */
export function prefersCsv(accepted: string | undefined): boolean {
  if (!accepted) return false
  const weights = new Map(accepted.split(',').map(weightOf))
  const csv = weights.get('text/csv') ?? 0
  const named = weights.get('application/json')
  if (named !== undefined) return csv > named
  return csv > 0 && csv >= (weights.get('application/*') ?? weights.get('*/*') ?? 0)
}

function weightOf(item: string): [type: string, weight: number] {
  const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
  const q = parameters.find((one) => one.startsWith('q='))
  return [type, q === undefined ? 1 : Number(q.slice(2)) || 0]
}
