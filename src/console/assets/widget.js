// Shows how many visitors a site had in the last 30 days, at the place of its tag:
//   <script defer src="https://stats.example.com/widget.js" data-link="https://stats.example.com/share/…"></script>
// It is a shadow root, so that the styles of the page and its own leave each other alone. If the link does not work, nothing is shown.
{
  const tag = document.currentScript
  const svg = (name, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    return element
  }
  const text = (name, content) => Object.assign(document.createElement(name), { textContent: content })

  const sparkline = (days) => {
    const [width, height] = [120, 28]
    const most = Math.max(1, ...days)
    const step = width / Math.max(1, days.length - 1)
    const points = days.map(
      (visitors, day) => `${(day * step).toFixed(1)},${(height - 1 - (visitors / most) * (height - 2)).toFixed(1)}`,
    )
    const drawing = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' })
    drawing.append(svg('polyline', { points: points.join(' ') }))
    return drawing
  }

  const show = ({ domain, visitors, days }) => {
    const place = document.createElement('div')
    const root = place.attachShadow({ mode: 'open' })
    // A style element would need the permission of the page's policy.
    const styles = new CSSStyleSheet()
    styles.replaceSync(`
      :host { all: initial; display: inline-block; color: inherit; font: 14px/1.4 system-ui, sans-serif; }
      b { display: block; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums; }
      span { display: block; opacity: 0.75; }
      svg { display: block; margin-top: 4px; }
      polyline { fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round; }`)
    root.adoptedStyleSheets = [styles]
    const unit = visitors === 1 ? 'visitor' : 'visitors'
    root.append(text('b', visitors.toLocaleString('en')), text('span', `${unit} in the last 30 days`), sparkline(days))
    place.title = domain
    tag.after(place)
  }

  fetch(`${tag.dataset.link.replace(/\/$/, '')}/widget.json`, { credentials: 'omit', referrerPolicy: 'no-referrer' })
    .then((response) => (response.ok ? response.json() : undefined))
    .then((numbers) => numbers && show(numbers))
    .catch(() => {})
}
