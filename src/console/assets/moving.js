// Keeps open pages moving: the numbers of a dashboard, and the live page. A hidden tab asks for nothing.

/** What a script or a person has changed on the page. */
const isOwn = (name) => ['open', 'hidden', 'tabindex', 'role', 'aria-label'].includes(name)
const keyOf = (node) => node?.dataset?.key
/** Added by a script (chart.js). */
const isAdded = (node) => node.dataset !== undefined && 'own' in node.dataset

/** Makes one element like another. What is the same stays in its place, with its focus, its open menus and what is under the pointer. */
function morph(shown, fresh) {
  for (const { name } of [...shown.attributes])
    if (!fresh.hasAttribute(name) && !isOwn(name)) shown.removeAttribute(name)
  for (const { name, value } of fresh.attributes)
    if (shown.getAttribute(name) !== value && name !== 'open' && name !== 'hidden') shown.setAttribute(name, value)
  morphChildren(shown, fresh)
}

function morphChildren(shown, fresh) {
  const keyed = new Map([...shown.children].map((child) => [keyOf(child), child]))
  let at = shown.firstChild
  for (const next of [...fresh.childNodes]) {
    const isSame = at && !isAdded(at) && keyOf(at) === keyOf(next) && at.nodeName === next.nodeName
    const known = isSame ? at : keyOf(next) && keyed.get(keyOf(next))
    if (!known) {
      if (keyOf(next)) next.classList.add('new')
      shown.insertBefore(next, at)
      continue
    }
    if (known === at) at = at.nextSibling
    else shown.insertBefore(known, at)
    if (known.nodeType === Node.ELEMENT_NODE) morph(known, next)
    else if (known.data !== next.data) known.data = next.data
  }
  while (at) {
    const after = at.nextSibling
    if (!isAdded(at)) at.remove()
    at = after
  }
}

const parsed = (text) => new DOMParser().parseFromString(text, 'text/html')

/**
 * Works shortly after every full minute, or every quarter of one, so that all open pages ask for the same moment. A tab that was hidden then
 * works as soon as it is seen.
 */
function often(everyMs, work) {
  let timer
  let isLate = false
  const wait = () => {
    timer = setTimeout(tick, everyMs - (Date.now() % everyMs) + 300 + Math.random() * 2000)
  }
  const tick = async () => {
    isLate = document.hidden
    if (isLate || (await work()) !== null) wait()
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || !isLate) return
    clearTimeout(timer)
    void tick()
  })
  wait()
}

/** Undefined if there is nothing now; null for somebody who is signed out, or may not see the site any more. */
async function read(address) {
  const response = await fetch(address).catch(() => undefined)
  if (response?.redirected || response?.status === 404) return null
  return response?.ok ? parsed(await response.text()) : undefined
}

const now = document.getElementById('now')
if (now) {
  often(15_000, async () => {
    const page = await read(now.dataset.moving)
    const fresh = page?.getElementById('now')
    if (fresh) morph(now, fresh)
    return page
  })
}

const card = document.getElementById('card')
if (card?.dataset.moving) {
  often(60_000, async () => {
    const page = await read(card.dataset.moving)
    const fresh = page?.getElementById('card')
    // The clock of this computer may be wrong.
    if (!fresh || Number(fresh.dataset.at) < Number(card.dataset.at)) return page
    const hasBegun = document.getElementById('no-visitors') && fresh.dataset.visitors !== '0'
    if (hasBegun || fresh.dataset.day !== card.dataset.day) {
      location.reload()
      return null
    }
    morph(card, fresh)
    morph(document.getElementById('numbers-at'), page.getElementById('numbers-at'))
    card.dispatchEvent(new Event('moved'))
    return page
  })
}

const live = document.querySelector('[data-stream]')
if (live) {
  const state = document.querySelector('.live-state')
  let leaving
  let isPaused = false
  const say = (text, isGood) => {
    state.classList.toggle('good', Boolean(isGood))
    state.querySelector('span').textContent = text
  }

  function take(message) {
    const lines = message.split('\n')
    if (lines.includes('event: unavailable')) return say('The statistics cannot be read at the moment')
    const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
    if (data.length === 0) return
    say('Connected, at most 2 seconds behind', true)
    morphChildren(live, parsed(data.join('\n')).body)
  }

  /** A fetch, because an EventSource does not tell why it is refused. Returns whether to come again. */
  async function follow(signal, alive) {
    const response = await fetch(live.dataset.stream, { signal })
    if (response.status === 429) {
      say('You have five live pages open. Close one, then reload this one.')
      return false
    }
    if (response.redirected || response.status === 404) {
      say('Not connected: you are signed out, or may not see this site any more.')
      return false
    }
    if (!response.ok) return true
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return true
      alive()
      const messages = (rest + value).split('\n\n')
      rest = messages.pop()
      for (const message of messages) take(message)
    }
  }

  async function connect() {
    if (isPaused || document.hidden || leaving) return
    const mine = new AbortController()
    leaving = mine
    let watchdog
    // A heartbeat comes every 15 seconds. A laptop that slept does not notice that its connection is gone.
    const alive = () => {
      clearTimeout(watchdog)
      watchdog = setTimeout(() => mine.abort(), 40_000)
    }
    alive()
    const comesAgain = await follow(mine.signal, alive).catch(() => true)
    clearTimeout(watchdog)
    if (leaving !== mine) return
    leaving = undefined
    if (!comesAgain) return
    say('Not connected. Trying again …')
    setTimeout(connect, 2000 + Math.random() * 3000)
  }

  function disconnect() {
    const one = leaving
    leaving = undefined
    one?.abort()
  }

  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) return void connect()
    disconnect()
  })
  live.addEventListener('click', (event) => {
    const button = event.target.closest('[data-pause]')
    if (!button) return
    isPaused = !isPaused
    button.textContent = isPaused ? 'Go on' : 'Pause'
    if (!isPaused) return void connect()
    disconnect()
    say('Paused')
  })
  void connect()
}
