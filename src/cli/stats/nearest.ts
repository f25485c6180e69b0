/** Up to three names that are similar to a mistyped one, the most similar first. */
export function nearest(mistyped: string, names: readonly string[]): string[] {
  const text = mistyped.toLowerCase()
  return names
    .map((name) => ({ name, distance: name.includes(text) || text.includes(name) ? 1 : distance(text, name) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name)
}

/** The minimum number of characters to insert, delete or replace (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, character] of [...one].entries()) {
    const next = [index + 1]
    for (let column = 0; column < other.length; column++)
      next.push(
        Math.min(
          (row[column] as number) + (character === other[column] ? 0 : 1),
          (row[column + 1] as number) + 1,
          (next[column] as number) + 1,
        ),
      )
    row = next
  }
  return row.at(-1) as number
}
