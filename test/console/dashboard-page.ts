// What a person reads on a dashboard, taken from its HTML.

interface ReadRow {
  label: string
  value: string
  words: string
  share: string
}

export interface ReadDashboard {
  /** Text, hover text and change of each metric, by its id in the page. */
  metrics: Map<string, { text: string; title: string; change: string | undefined; changeTitle: string | undefined }>
  now: number | undefined
  /** Rows of the chart's table: name, number, previous number, previous name. */
  chart: string[][]
  chartUnit: string | undefined
  panel(id: string): ReadRow[]
}

export const textOf = (markup: string): string =>
  decode(markup.replace(/<svg.*?<\/svg>|<span class="code".*?<\/span>/gs, '').replace(/<[^>]*>/g, '')).trim()

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
      const change = /<span class="change".*$/s.exec(markup)?.[0]
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
  const now = /<span class="now"[^>]*><i><\/i>(\d+) <span/.exec(page)?.[1]
  return {
    metrics,
    now: now === undefined ? undefined : Number(now),
    chart: all(/<tr[^>]*>(.*?)<\/tr>/gs, body).map((row) => all(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs, row).map(textOf)),
    chartUnit: attribute(/<div class="plot"[^>]*>/.exec(page)?.[0] ?? '', 'data-unit'),
    panel(id) {
      const section = new RegExp(`<section class="card panel[^"]*" id="${id}".*?</section>`, 's').exec(page)?.[0] ?? ''
      return all(/<li>(.*?)<\/li>/gs, section).map((row) => {
        const value = /<span class="value".*?<\/span>/s.exec(row)?.[0] ?? ''
        return {
          label: textOf(/<span class="label">(.*?)<\/span> <span class="value"/s.exec(row)?.[1] ?? ''),
          value: textOf(value),
          words: attribute(value, 'title') ?? '',
          share: textOf(/<span class="part">(.*?)<\/span>/s.exec(row)?.[1] ?? ''),
        }
      })
    },
  }
}
