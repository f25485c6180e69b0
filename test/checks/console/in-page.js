// Runs inside every page, before anything of the page itself, and measures it.

const observed = { shifts: [], violations: [] }

document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
  observed.violations.push(`${violatedDirective} ${blockedURI}`)
})
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const nodes = sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? 'text')
    observed.shifts.push({ value, by: nodes.join(' and ') })
  }
}).observe({ type: 'layout-shift', buffered: true })

const shortly = (element) => element.outerHTML.replace(/\s+/g, ' ').slice(0, 120)

/** What makes the page wider than the window. */
function wideBy() {
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  const wide = [...document.body.querySelectorAll('*')].filter(
    (element) => element.getBoundingClientRect().right > clientWidth + 0.5,
  )
  return [`${scrollWidth} px in ${clientWidth} px`, ...wide.slice(0, 3).map(shortly)]
}

const isSeen = (element) =>
  element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
  element.getBoundingClientRect().right > 0

/** A link in the middle of a sentence may be as high as its line. */
function isInSentence(element) {
  if (getComputedStyle(element).display !== 'inline') return false
  return [...element.parentElement.childNodes].some(
    (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '',
  )
}

/** What is clicked may also be the label. */
function isSmall(element) {
  const label = element.closest('label') ?? element.labels?.[0]
  const boxes = [element, label].filter(Boolean).map((one) => one.getBoundingClientRect())
  return Math.max(...boxes.map(({ width }) => width)) < 24 || Math.max(...boxes.map(({ height }) => height)) < 24
}

/** The points of a chart are links a second time, in the table below it. */
const isSecondWay = (element) => element.closest('svg[aria-hidden=true]') !== null

function smallTargets() {
  const targets = document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')
  return [...targets]
    .filter((element) => isSeen(element) && !isInSentence(element) && !isSecondWay(element) && isSmall(element))
    .map((element) => {
      const { width, height } = element.getBoundingClientRect()
      return `${Math.round(width)} × ${Math.round(height)} px: ${shortly(element)}`
    })
}

/** What is cut at the side, and cannot be read on hover either. */
function cutTexts() {
  return [...document.body.querySelectorAll('*')]
    .filter((element) => {
      const { clientWidth, scrollWidth } = element
      if (scrollWidth <= clientWidth + 1 || clientWidth <= 1 || !isSeen(element)) return false
      return getComputedStyle(element).overflowX === 'hidden' && !element.closest('[title]')
    })
    .map((element) => `${element.scrollWidth} px in ${element.clientWidth} px: ${shortly(element)}`)
}

/** Of the page's ground: 0 is black, 1 is white. */
function lightness() {
  const canvas = document.createElement('canvas').getContext('2d')
  canvas.fillStyle = getComputedStyle(document.body).backgroundColor
  canvas.fillRect(0, 0, 1, 1)
  const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data
  return (red + green + blue) / 765
}

globalThis.measurePage = () => ({
  layoutShifts: observed.shifts,
  violations: observed.violations,
  wideBy: wideBy(),
  smallTargets: smallTargets(),
  cutTexts: cutTexts(),
  lightness: lightness(),
})

/** Sends the fields that a person would have typed, with the token of the page. */
globalThis.sendForm = ({ action, fields }) => {
  const token = document.querySelector('input[name=token]')?.value ?? ''
  const form = Object.assign(document.createElement('form'), { method: 'post', action, hidden: true })
  for (const [name, value] of Object.entries({ token, ...fields })) {
    form.append(Object.assign(document.createElement('input'), { name, value }))
  }
  document.body.append(form)
  form.submit()
}
