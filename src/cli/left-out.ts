// What an import does not read, for people.

const count = (number: number) => number.toLocaleString('en')

export function leftOutText(
  leftOut: readonly (readonly [reason: string, lines: number])[],
  broken: readonly string[],
): string[] {
  if (leftOut.length === 0) return []
  const most = leftOut.toSorted(([, one], [, other]) => other - one)
  const width = Math.max(...most.map(([, lines]) => count(lines).length))
  return [
    'Left out:',
    ...most.map(([reason, lines]) => `  ${count(lines).padStart(width)} ${reason}`),
    ...(broken.length > 0 ? ['The first lines that cannot be read:', ...broken.map((one) => `  ${one}`)] : []),
  ]
}
