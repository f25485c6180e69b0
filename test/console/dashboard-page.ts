// What a person reads on a dashboard, taken from its HTML.

interface ReadRow {
  label: string
  value: string
  words: string
  share: string
  /** Where a click leads. */
  href: string | undefined
}

interface ReadList {
  heads: string[]
  rows: ReadRow[]
}

export interface ReadDashboard {
  /** Text, hover text and change of each metric, by its id in the page. */
  metrics: Map<string, { text: string; title: string; change: string | undefined; changeTitle: string | undefined }>
  now: number | undefined
  /** Rows of the chart's table: name, number, previous number, previous name. */
  chart: string[][]
  chartUnit: string | undefined
  /** The lists of a panel: a short one is followed by the beginning of another. */
  lists(id: string): ReadList[]
  /** The rows of its first list. */
  panel(id: string): ReadRow[]
  chips: string[]
  /** The table of a list alone: its heads, then its rows. */
  table: string[][]
}

export const textOf = (markup: string): string =>
  decode(markup.replace(/<svg.*?<\/svg>/gs, '').replace(/<[^>]*>/g, '')).trim()

export const decode = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

const attribute = (markup: string, name: string): string | undefined => {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(markup)?.[1]
  return value === undefined ? undefined : decode(value)
}

const all = (pattern: RegExp, markup: string): string[] =>
  [...markup.matchAll(pattern)].map(([, part]) => part as string)

export function readDashboard(page: string): ReadDashboard {
  const metrics = new Map(
    [...page.matchAll(/<(a|div) class="metric" id="metric-(\w+)".*?<\/\1>/gs)].map(([markup, , name]) => {
      const number = /<span class="number".*?<\/span>/s.exec(markup)?.[0] ?? ''
      const change = /<span class="change[ "].*$/s.exec(markup)?.[0]
      return [
        name as string,
        {
          text: textOf(number),
          title: attribute(number, 'title') ?? '',
          change: change && textOf(change),
          changeTitle: change && attribute(change, 'title'),
        },
      ]
    }),
  )
  const table = /<table id="chart-numbers">.*?<\/table>/s.exec(page)?.[0] ?? ''
  const body = /<tbody>(.*)<\/tbody>/s.exec(table)?.[1] ?? ''
  const now = /<(?:a|span) class="now"[^>]*><i><\/i>(\d+) <span/.exec(page)?.[1]
  return {
    metrics,
    now: now === undefined ? undefined : Number(now),
    chart: all(/<tr[^>]*>(.*?)<\/tr>/gs, body).map((row) => all(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs, row).map(textOf)),
    chartUnit: attribute(/<div class="plot"[^>]*>/.exec(page)?.[0] ?? '', 'data-unit'),
    lists,
    panel: (id) => lists(id)[0]?.rows ?? [],
    chips: all(/<span class="chip">(.*?)<\/span>/gs, page).map((chip) =>
      textOf(chip.replace(/<div class="menu-body.*?<\/div>/s, '')),
    ),
    table: all(/<tr>(.*?)<\/tr>/gs, /<section class="card long">.*?<\/section>/s.exec(page)?.[0] ?? '').map((row) =>
      all(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs, row).map(textOf),
    ),
  }

  function lists(id: string): ReadList[] {
    const section = new RegExp(`<section class="card panel[^"]*" id="${id}".*?</section>`, 's').exec(page)?.[0] ?? ''
    return [...section.matchAll(/<p class="heads">(.*?)<\/p>\s*<ol class="rows">(.*?)<\/ol>/gs)].map(
      ([, heads = '', rows = '']) => ({
        heads: all(/<span>(.*?)<\/span>/gs, heads).map(textOf),
        rows: all(/<li>(.*?)<\/li>/gs, rows).map(readRow),
      }),
    )
  }
}

function readRow(row: string): ReadRow {
  const value = /<span class="value".*?<\/span>/s.exec(row)?.[0] ?? ''
  const href = attribute(/<a class="line"[^>]*>/.exec(row)?.[0] ?? '', 'href')
  return {
    label: textOf(/<span class="label"[^>]*>(.*?)<\/span> <span class="value"/s.exec(row)?.[1] ?? ''),
    value: textOf(value),
    words: attribute(value, 'title') ?? '',
    share: textOf(/<span class="part">(.*?)<\/span>/s.exec(row)?.[1] ?? ''),
    href,
  }
}
