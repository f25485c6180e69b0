/** An address for lists and the audit log: enough to recognise one's own network, too little to find a person. */
export function truncatedAddress(address: string): string {
  if (!address.includes(':')) return address.replace(/\.\d+$/, '.0')
  const [before = ''] = address.split('::')
  const groups = before.split(':').filter(Boolean).slice(0, 3)
  return `${groups.join(':')}::`
}
