// Reads the numbers of the chart from its table: a crosshair with a tooltip under the pointer or the arrow keys, choosing days by dragging, or
// with Shift and the arrow keys, and opening a point with a click or Enter.
const plot = document.querySelector('.plot')
/** They change while the page moves (moving.js). */
let rows = []
const readRows = () => {
  rows = [...document.querySelectorAll('#chart-numbers tbody tr')]
}
readRows()

if (plot && rows.length > 0) {
  const { top, height, range, unit: interval, metric } = plot.dataset
  const isBars = interval === 'hour'
  const add = (name) => {
    const part = plot.appendChild(Object.assign(document.createElement('div'), { className: name, hidden: true }))
    part.dataset.own = ''
    return part
  }
  const [chosen, line, dotBefore, dot, tip] = ['chosen', 'crosshair', 'dot before', 'dot', 'tip'].map(add)
  tip.setAttribute('role', 'status')
  plot.tabIndex = 0
  plot.setAttribute('role', 'group')
  plot.setAttribute(
    'aria-label',
    `Chart. Arrow keys read its numbers${range ? '; Shift and arrow keys choose some, Enter shows them' : ''}.`,
  )
  let at
  let from
  let isFirstTouch = false

  // Bars have the width of a point, a line begins and ends with half of one.
  const gaps = () => Number(plot.dataset.gaps)
  const share = (index) => (isBars ? index + 0.5 : rows.length === 1 ? 0.5 : index) / gaps()
  if (isBars) line.style.width = `${100 / gaps()}%`
  const nearest = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect()
    return Math.max(0, Math.min(rows.length - 1, Math[isBars ? 'floor' : 'round'](((clientX - left) / width) * gaps())))
  }

  /** `left` and, at the end of the line, `right`. */
  function tipLine([left, right, direction]) {
    const line = Object.assign(document.createElement('p'), { textContent: left })
    if (right)
      line.append(
        ' ',
        Object.assign(document.createElement('span'), { textContent: right, className: direction || '' }),
      )
    return line
  }

  function show(index) {
    at = index
    const { value, previous, change, share: part, note } = rows[index].dataset
    const [name, now, was, before] = [...rows[index].cells].map((cell) => cell.textContent)
    const x = `${100 * share(index)}%`
    line.style.left = x
    for (const [one, number] of [
      [dot, value],
      [dotBefore, previous],
    ]) {
      one.style.left = x
      one.style.top = `${Number(top) + height * (1 - number / plot.dataset.most)}px`
      one.hidden = isBars || number === undefined
    }
    const moved = Number(change) === 0 ? '0%' : `${change > 0 ? '▲' : '▼'} ${Math.abs(change).toLocaleString('en')}%`
    const isGood = change > 0 !== (metric === 'Bounce rate')
    const all = [
      [name],
      [
        `${now} ${metric.toLowerCase()}`,
        change !== undefined && moved,
        Number(change) !== 0 && (isGood ? 'up' : 'down'),
      ],
      previous !== undefined && [`${was} before`, before],
      part && [part],
      note && [note],
    ]
    tip.replaceChildren(...all.filter(Boolean).map(tipLine))
    if (note) tip.lastElementChild.className = 'noted'
    for (const part of [line, tip]) part.hidden = false
    const wide = plot.clientWidth
    const left = share(index) * wide
    tip.style.left = `${Math.max(0, Math.min(wide - tip.offsetWidth, left > wide / 2 ? left - tip.offsetWidth - 14 : left + 14))}px`
    chosen.hidden = from === undefined || from === at
    if (!chosen.hidden) {
      const [first, last] = [Math.min(from, at), Math.max(from, at)]
      chosen.style.left = `${100 * share(first)}%`
      chosen.style.width = `${100 * (share(last) - share(first))}%`
    }
  }

  function hide() {
    from = undefined
    for (const part of [line, dot, dotBefore, tip, chosen]) part.hidden = true
  }

  function go() {
    if (!range || at === undefined) return
    if (from === undefined || from === at) return rows[at].querySelector('a').click()
    const address = new URL(range, location.href)
    address.searchParams.set('range', 'custom')
    address.searchParams.set('start', rows[Math.min(from, at)].dataset.first)
    address.searchParams.set('end', rows[Math.max(from, at)].dataset.last)
    location.href = address
  }

  plot.addEventListener('pointermove', (event) => show(nearest(event)))
  // A finger leaves at once; what it has touched stays until something else is touched.
  plot.addEventListener('pointerleave', ({ pointerType }) => from === undefined && pointerType !== 'touch' && hide())
  plot.addEventListener('click', (event) => {
    show(nearest(event))
    if (isFirstTouch) event.preventDefault()
  })
  // A finger reads a point before it opens it.
  plot.addEventListener('pointerdown', (event) => {
    isFirstTouch = event.pointerType === 'touch' && (tip.hidden || nearest(event) !== at)
    if (!range || event.button !== 0 || event.pointerType === 'touch') return
    from = nearest(event)
    event.preventDefault()
  })
  plot.addEventListener('pointermove', (event) => {
    // Not before: a click belongs to the link.
    if (from !== undefined && from !== at) plot.setPointerCapture(event.pointerId)
  })
  plot.addEventListener('dragstart', (event) => event.preventDefault())
  plot.addEventListener('pointerup', () => {
    if (from !== undefined && from !== at) go()
    from = undefined
  })
  plot.addEventListener('blur', hide)
  document.getElementById('card')?.addEventListener('moved', () => {
    readRows()
    if (!tip.hidden) show(Math.min(at, rows.length - 1))
  })
  plot.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -rows.length, End: rows.length }[event.key]
    if (event.key === 'Enter') return go()
    if (event.key === 'Escape') return hide()
    if (step === undefined) return
    event.preventDefault()
    if (!event.shiftKey) from = undefined
    else if (range) from ??= at ?? rows.length - 1
    show(at === undefined ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + step)))
  })
}
