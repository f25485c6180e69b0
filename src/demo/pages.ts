// Paths and titles, made from words inside ClickHouse: twenty thousand of them do not fit into a statement's parameters.
import { join, type Sql, sql, text, texts, uint } from '../stores/clickhouse-sql.ts'
import { stepwise } from './draws.ts'
import {
  customerNames,
  customerTrades,
  docAreas,
  docThings,
  docVerbs,
  hostEndings,
  hostFirsts,
  hostSeconds,
  mainPages,
  postEndings,
  postOpeners,
  postThings,
  productKinds,
  productThings,
} from './words.ts'

// After the main pages, every twenty pages contain eleven posts, five documentation pages, three products and one customer. A factor
// coprime to twenty mixes them.
const round = 20
const mix = 7
const sections = { post: [0, 11], doc: [11, 16], product: [16, 19], customer: [19, 20] } as const

type Section = keyof typeof sections

/** A step near the golden ratio. It visits every combination before it repeats one, and two in a row are never alike. */
function strideOf(size: number): number {
  let stride = Math.round(size * 0.618)
  while (greatestCommonDivisor(stride, size) > 1) stride++
  return stride
}

const greatestCommonDivisor = (one: number, other: number): number =>
  other === 0 ? one : greatestCommonDivisor(other, one % other)

/** Ranks (from 1) of the most read posts. */
export const topPosts = (pages: number): number[] =>
  Array.from({ length: Math.min(60, pages - mainPages.length) }, (_, index) => index)
    .filter((index) => (index * mix) % round < sections.post[1])
    .map((index) => mainPages.length + 1 + index)

/** The index of a page within a section. Pages of other sections get a number outside the section's range. */
function indexIn(section: Section): Sql {
  const [from, to] = sections[section]
  return sql`(intDiv(nth, ${uint(round)}) * ${uint(to - from)} + (nth * ${uint(mix)}) % ${uint(round)} - ${uint(from)})`
}

const isIn = (section: Section): Sql => sql`(nth * ${uint(mix)}) % ${uint(round)} < ${uint(sections[section][1])}`

const codeOf = (index: Sql, size: number): Sql => sql`((${index} * ${uint(strideOf(size))} + offset) % ${uint(size)})`

/** One word from each list. Every index gets a different combination, and consecutive indexes get words far apart in the lists. */
function combination(index: Sql, lists: readonly (readonly string[])[], separator: Sql): Sql {
  const size = lists.reduce((product, { length }) => product * length, 1)
  const code = codeOf(index, size)
  let divisor = 1
  const words = lists.map((list) => {
    const word = sql`${texts(list)}[intDiv(${code}, ${uint(divisor)}) % ${uint(list.length)} + 1]`
    divisor *= list.length
    return word
  })
  return sql`concat(${join(words, separator)})`
}

const comma = sql`, `
const space = sql`, ' ', `

/** Posts use up the combinations of opener and thing before an ending tells two apart, but one in three has an ending from the start. */
function postTitle(): Sql {
  const index = indexIn('post')
  const size = postOpeners.length * postThings.length
  const code = codeOf(index, size)
  const ending = sql`(intDiv(${index}, ${uint(size)}) + if(${code} % 3 = 0, ${code}, 0)) % ${uint(postEndings.length)}`
  return sql`concat(${combination(index, [postOpeners, postThings], space)}, ${texts(postEndings)}[${ending} + 1])`
}

/** The area is a folder in the path. Each area begins with a different title. */
const docArea = sql`(${indexIn('doc')} % ${uint(docAreas.length)})`
const docTitle = combination(
  sql`(intDiv(${indexIn('doc')}, ${uint(docAreas.length)}) + ${docArea} * 37)`,
  [docVerbs, docThings],
  space,
)

export interface PageOptions {
  pages: number
  seed: number
  /** Every title ends with it. */
  brand: string
  /** Titles change between these days, counted since the epoch. */
  firstDay: number
  lastDay: number
}

/** A scalar of four arrays by rank: path, title, later title, and the day of the change, counted since the epoch. */
export function pageTable({ pages, seed, brand, firstDay, lastDay }: PageOptions): Sql {
  const main = (column: 0 | 1 | 2) => sql`${texts(mainPages.map((page) => page[column] ?? ''))}[rank]`
  const branded = (title: Sql) => sql`if(${title} = '', '', concat(${title}, ${text(` | ${brand}`)}))`
  const changeDay = sql`${uint(firstDay)} + cityHash64(${uint(seed)}, rank) % ${uint(lastDay - firstDay + 1)}`
  return sql`(
    SELECT (groupArray(path), groupArray(${branded(sql`title`)}), groupArray(${branded(sql`later`)}), groupArray(changed))
    FROM (
      SELECT *, if(later = '', 65535, ${changeDay}) AS changed
      FROM ${stepwise(
        sql`numbers(${uint(pages)})`,
        [
          sql`number + 1 AS rank`,
          sql`toInt64(number) - ${uint(mainPages.length)} AS nth`,
          sql`${uint(seed % 1_000)} AS offset`,
        ],
        [
          sql`multiIf(
            nth < 0, ${main(1)},
            ${isIn('post')}, ${postTitle()},
            ${isIn('doc')}, ${docTitle},
            ${isIn('product')}, ${combination(indexIn('product'), [productKinds, productThings], space)},
            ${combination(indexIn('customer'), [customerNames, customerTrades], space)}
          ) AS title`,
          sql`multiIf(
            nth < 0, '',
            ${isIn('post')}, '/blog/',
            ${isIn('doc')}, concat('/docs/', ${texts(docAreas)}[${docArea} + 1], '/'),
            ${isIn('product')}, '/shop/',
            '/customers/'
          ) AS folder`,
        ],
        [
          sql`if(nth < 0, ${main(0)}, concat(folder, replaceRegexpAll(lower(title), '[^a-z0-9]+', '-'))) AS path`,
          sql`multiIf(nth < 0, ${main(2)}, rank % 17 = 3, concat(title, ' (updated)'), '') AS later`,
        ],
      )}
      ORDER BY rank
    )
  )`
}

/** A scalar array of the small referring sites, most frequent first. */
export const tailHostTable = (hosts: number, seed: number): Sql => sql`(
    SELECT groupArray(host)
    FROM (
      SELECT ${uint(seed % 1_000)} AS offset, ${combination(sql`number`, [hostFirsts, hostSeconds, hostEndings], comma)} AS host
      FROM numbers(${uint(hosts)})
      ORDER BY number
    )
  )`
