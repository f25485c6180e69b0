/** Requests per hour by plan (docs/contract.md 8.1). Free has no API access (docs/contract.md 5). */
export const plans = {
  Free: null,
  Starter: { requestsPerHour: 1000 },
  Growth: { requestsPerHour: 2000 },
  Scale: { requestsPerHour: 3000 },
  Agency: { requestsPerHour: 5000 },
} as const

export type Plan = keyof typeof plans

export const isPlan = (name: string): name is Plan => Object.hasOwn(plans, name)
