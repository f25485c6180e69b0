// The script that a site includes (docs/tracker.md). No cookies, nothing stored; docs/privacy.md lists what it sends.
// It is served without comments and indentation (script.ts), so every statement must be complete at the end of its line.
// A released version never changes, because pages name its hash: before a change, copy this file to footfall-<version>.js and
// add it to script.ts (decision D-119).
;(() => {
  const script = document.currentScript
  const { dataset } = script
  const early = window.footfall?.q || []
  if (window.footfall?.isLoaded) return

  // The console then says what becomes of each event, in the words of the collector: they would not fit in here.
  const isDebug = /^localhost|[?&]debug/.test(location.hostname + location.search)
  const address = (dataset.endpoint || new URL('/api/event', script.src)) + (isDebug ? '?debug=text' : '')
  const records = (what) => dataset.track?.includes(what)
  const files = /\.(7z|avi|csv|dmg|docx?|exe|gz|key|mov|mp[34]|pdf|pkg|pptx?|rar|rtf|txt|wav|xlsx?|zip)$/i
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
      /^(utm_(source|medium|campaign|content|term)|ref|source|gclid|[gw]braid|msclkid)$/.test(name),
    )
    return location.origin + path() + (told.length ? `?${new URLSearchParams(told)}` : '')
  }

  // Pages without TLS have no crypto.randomUUID, but the address of a blob ends with a UUID.
  const uuid = () => URL.createObjectURL(new Blob()).slice(-36)

  // Every attempt has the same id, so an event that did arrive does not count twice. Properties that JSON cannot have are an error
  // in the console, not in the code that sent them: the function is async.
  const post = async (event, wait, body = JSON.stringify(event)) => {
    try {
      const response = await fetch(address, { method: 'POST', body, keepalive: true, credentials: 'omit' })
      say(isDebug && (await response.text()))
      if (response.status < 500) return
    } catch {
      // The network failed.
    }
    if (wait < 3e4) setTimeout(post, wait, event, wait * 5, body)
  }

  const say = (what) => isDebug && console.info(`Footfall: ${what}`)

  // Browsers that a program steers are not visitors.
  const excuse = () => {
    try {
      return navigator.webdriver ? 'webdriver' : localStorage.footfall_ignore === 'true' && 'ignore'
    } catch {}
  }

  // Custom events carry the referrer of the first page too, so the session starts with it whichever event arrives first.
  const compose = (name, options) => {
    pending = { n: name, u: page(), d: site, r: referrer, id: uuid(), p: options?.props, $: options?.revenue }
  }

  const flush = (title) => {
    clearTimeout(timer)
    const why = excuse()
    if (pending) void (why ? say(`not counted: ${why}`) : post({ ...pending, t: title }, 1e3))
    pending = 0
  }

  const track = (name, options) => {
    if (document.prerendering) return document.addEventListener('prerenderingchange', () => track(name, options))
    flush('')
    if (name === 'pageview') counted = path()
    compose(String(name), options)
    flush(document.title)
  }

  // An application sets its title after it has changed the address, so the page view waits briefly for the title.
  const navigated = () => {
    if (!counted || path() === counted) return
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

  // Only watches: the browser follows the link as if the script were not there.
  const clicked = (event) => {
    // The link may be outside the shadow root that was clicked, or in an SVG image, where href is an object.
    const link = event.composedPath().find(({ localName }) => localName === 'a')
    if (!link || event.button > 1) return
    const target = document.createElement('a')
    target.href = link.href.baseVal ?? link.href
    const { pathname } = target
    const isFile = link.hasAttribute('download') || files.test(pathname)
    const name =
      records('downloads') && isFile
        ? 'File Download'
        : records('outbound') && target.host !== location.host && 'Outbound Link'
    if (name && /^http/.test(target.protocol)) track(name, { props: { url: target.origin + pathname } })
  }
  addEventListener('click', clicked, true)
  addEventListener('auxclick', clicked, true)

  track.isLoaded = true
  window.footfall = track
  track('pageview')
  for (const given of early) track(...given)
  // Safari does not tell a script the status of its page, so the site's error page says that it is one.
  if (records('404') && document.querySelector('[name=footfall][content="404"]'))
    track('404', { props: { path: path() } })
})()
