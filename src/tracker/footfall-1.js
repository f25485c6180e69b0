// The script that a site includes (docs/tracker.md). No cookies, nothing stored; docs/privacy.md lists what it sends.
// It is served without comments and indentation (script.ts), so every statement must be complete at the end of its line.
// A released version never changes, because pages name its hash: a change needs a new version (decision D-119).
;(() => {
  const { currentScript: script } = document
  const { dataset } = script
  const early = window.footfall?.q ?? []
  if (window.footfall?.isLoaded) return

  const address = dataset.endpoint || new URL('/api/event', script.src).href
  const site = dataset.site || dataset.domain || location.hostname
  let referrer = document.referrer
  let counted
  let pending
  let timer

  // data-hash is for applications whose pages are #/addresses.
  const path = () =>
    'hash' in dataset && location.hash
      ? location.pathname.replace(/\/$/, '') + location.hash.replace(/^#!?\/?/, '/')
      : location.pathname

  // Keeps only the query parameters that say where a visit came from; the rest may be private.
  const page = () => {
    const told = [...new URLSearchParams(location.search)].filter(([name]) =>
      /^(utm_(source|medium|campaign)|ref|source|gclid|[gw]braid|msclkid)$/.test(name),
    )
    return location.origin + path() + (told.length ? `?${new URLSearchParams(told)}` : '')
  }

  // Pages without TLS have no crypto.randomUUID.
  const uuid = () =>
    '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
      (digit ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (digit / 4)))).toString(16),
    )

  // Every attempt has the same id, so an event that did arrive does not count twice.
  const post = (body, wait) =>
    fetch(address, { method: 'POST', body, keepalive: true, credentials: 'omit' })
      .then(({ status }) => status < 500 || Promise.reject())
      .catch(() => wait < 3e4 && setTimeout(post, wait, body, wait * 5))

  const isIgnored = () => {
    try {
      return localStorage.footfall_ignore === 'true'
    } catch {
      return false
    }
  }

  // Custom events carry the referrer of the first page too, so the session starts with it whichever event arrives first.
  const compose = (name) => {
    pending = { n: name, u: page(), d: site, r: referrer, id: uuid() }
  }

  const flush = (title) => {
    clearTimeout(timer)
    if (pending && !isIgnored()) void post(JSON.stringify({ ...pending, t: title }), 1e3)
    pending = 0
  }

  const track = (name) => {
    if (document.prerendering) {
      document.addEventListener('prerenderingchange', () => track(name), { once: true })
      return
    }
    flush('')
    if (name === 'pageview') counted = path()
    compose(String(name))
    flush(document.title)
  }

  // An application sets its title after it has changed the address, so the page view waits briefly for the title.
  const navigated = () => {
    if (counted === undefined || path() === counted) return
    flush('')
    counted = path()
    referrer = location.origin
    compose('pageview')
    timer = setTimeout(() => flush(document.title), 100)
  }

  for (const name of ['pushState', 'replaceState']) {
    const original = history[name]
    history[name] = function (...given) {
      original.apply(this, given)
      navigated()
    }
  }
  addEventListener('popstate', navigated)
  addEventListener('pagehide', () => flush(''))
  // The page came back from the back/forward cache, with its script still loaded.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    referrer = location.origin
    track('pageview')
  })

  track.isLoaded = true
  window.footfall = track
  track('pageview')
  for (const [name] of early) track(name)
})()
