// What a shared link always filters by, and what that leaves to whoever has the link (decision D-238).

import { isPath } from '../../display/labels.ts'
import { type Dimension, dimensionOf } from '../../stats/questions/dimensions.ts'
import { type Filter, maxFilters } from '../../stats/questions/filters.ts'

interface Locked {
  /** Filters that are always applied. No address can lift them. */
  locked: readonly Filter[]
}

const ends = ['entry_page', 'exit_page'] as const

const isEnd = (name: string): boolean => ends.some((end) => end === name)

const on = ({ locked }: Locked, name: string): Filter[] => locked.filter(({ dimension }) => dimension.name === name)

export const isLockedToHosts = (context: Locked): boolean => on(context, 'hostname').length > 0

/** Only what happened on some pages or hosts is shown. The same visits went elsewhere, too. */
export const isLockedToPlaces = (context: Locked): boolean => isLockedToHosts(context) || on(context, 'page').length > 0

/** No second filter on it makes sense. */
export const isLocked = (context: Locked, name: string): boolean =>
  on(context, name).some(({ operator, values }) => operator === 'is' && values.length === 1)

/** Where visits began and ended: if a link shows some pages only, these must be among them, and that takes filters of its own. */
export const showsEnds = (context: Locked): boolean =>
  !isLockedToHosts(context) && context.locked.length + ends.length * on(context, 'page').length <= maxFilters

/** How many filters can be added. */
export const roomFor = (context: Locked): number =>
  maxFilters - context.locked.length - (showsEnds(context) ? ends.length * on(context, 'page').length : 0)

/** The filters of a question about `by`. Where it is about entry or exit pages, these must be pages that the link shows. */
export function filtersOfQuestion(context: Locked, added: readonly Filter[], by: string | undefined): Filter[] {
  const about = [by, ...added.map(({ dimension }) => dimension.name)]
  const copies = ends
    .filter((end) => about.includes(end))
    .flatMap((end) => on(context, 'page').map((filter) => ({ ...filter, dimension: dimensionOf(end) as Dimension })))
  return [...context.locked, ...added, ...copies]
}

/** A path that the filter names, but the link does not show. */
export function pathOutside(context: Locked, { dimension, operator, values }: Filter): string | undefined {
  if (operator !== 'is' || !(isPath(dimension.name) || isEnd(dimension.name))) return undefined
  return values.find((value) => !on(context, 'page').every((lock) => satisfies(value, lock)))
}

function satisfies(value: string, { operator, values }: Filter): boolean {
  switch (operator) {
    case 'is':
      return values.includes(value)
    case 'is_not':
      return !values.includes(value)
    case 'contains':
      return values.some((part) => value.includes(part))
    case 'starts_with':
      return values.some((start) => value.startsWith(start))
  }
}
