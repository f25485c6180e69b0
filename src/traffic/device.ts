/** The device labels of docs/contract.md 2.3. The filter of 4.1 takes the first three in lower case. */
export const devices = ['Desktop', 'Mobile', 'Tablet', 'Unknown'] as const

export type Device = (typeof devices)[number]
