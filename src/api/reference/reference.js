// Makes the reference more comfortable: search, copying, and calls with a key. Everything can be read without it.

const all = (selector, within = document) => [...within.querySelectorAll(selector)]

/** Of this tab, gone when it is closed. A browser may forbid even that; then nothing is kept. */
const tab = {
  get(name) {
    try {
      return sessionStorage.getItem(name) ?? ''
    } catch {
      return ''
    }
  },
  set(name, value) {
    try {
      sessionStorage.setItem(name, value)
    } catch {}
  },
}

// Examples name this server.
for (const card of all('.samples')) {
  const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT)
  while (texts.nextNode())
    texts.currentNode.data = texts.currentNode.data.replace('https://stats.example.com', location.origin)
}

// One language for all examples.
function choose(language) {
  for (const radio of all('.samples input')) if (radio.value === language) radio.checked = true
}
if (tab.get('footfall-language')) choose(tab.get('footfall-language'))
for (const radio of all('.samples input')) {
  radio.addEventListener('change', () => {
    const before = radio.getBoundingClientRect().top
    choose(radio.value)
    // Examples above have changed their height; the one that was clicked stays where it is.
    scrollBy(0, radio.getBoundingClientRect().top - before)
    tab.set('footfall-language', radio.value)
  })
}

for (const button of all('.copy')) {
  button.addEventListener('click', async () => {
    const code = all('pre', button.closest('.code-card')).find((one) => one.checkVisibility())
    try {
      await navigator.clipboard.writeText(code.textContent)
    } catch {
      // Browsers allow it only over https and on this machine. A selection needs one key more.
      getSelection().selectAllChildren(code)
      return
    }
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
}

// Calls. The key is in this tab only, and in every form.
const keys = all('.try .key')
for (const field of keys) {
  field.value = tab.get('footfall-key')
  field.addEventListener('input', () => {
    tab.set('footfall-key', field.value.trim())
    for (const other of keys) if (other !== field) other.value = field.value
  })
}

const colours = /("(?:\\.|[^"\\])*")(?=\s*:)|("(?:\\.|[^"\\])*")|(-?\d[\d.]*)|(true|false|null)/g

/** The text as nodes, like the examples on the page. */
function coloured(text) {
  const nodes = []
  let end = 0
  for (const match of text.matchAll(colours)) {
    const kind = ['property', 'string', 'number', 'word'][match.slice(1).findIndex(Boolean)]
    nodes.push(
      text.slice(end, match.index),
      Object.assign(document.createElement('span'), { className: kind, textContent: match[0] }),
    )
    end = match.index + match[0].length
  }
  return [...nodes, text.slice(end)]
}

/** All of an answer; of a stream its first message. */
async function textOf(response) {
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; ; ) {
    const { value, done } = await reader.read()
    text += value ?? ''
    const [, data] = /^data: (.*)\n\n/m.exec(text) ?? []
    if (!data && !done) continue
    void reader.cancel()
    return data ?? text
  }
}

function showAnswer(form) {
  const next = form.nextElementSibling
  if (next.classList.contains('answer')) return next
  const card = document.querySelector('#answer').content.firstElementChild.cloneNode(true)
  for (const radio of all('input', card)) radio.name = `answer-${form.dataset.path}`
  form.after(card)
  return card
}

/** The address that the fields ask for. */
function addressOf(form) {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '')
  const isInPath = ([name]) => form.dataset.path.includes(`{${name}}`)
  const path = fields
    .filter(isInPath)
    .reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), form.dataset.path)
  const parameters = new URLSearchParams(fields.filter((field) => !isInPath(field)))
  return path + (parameters.size > 0 ? `?${parameters}` : '')
}

/** The examples call the same address as the fields: in each, it is one text between quotes. */
function followFields(form) {
  for (const text of all('.samples .string', form.closest('section'))) {
    const quote = text.textContent[0]
    if (text.textContent.includes(form.dataset.path.split('{')[0]))
      text.textContent = quote + location.origin + addressOf(form) + quote
  }
}

for (const form of all('form.try')) {
  form.addEventListener('input', () => followFields(form))
  const part = (card, selector) => card.querySelector(selector)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const address = addressOf(form)
    const key = form.querySelector('.key')?.value.trim()
    const button = form.querySelector('.send')
    button.disabled = true
    const began = performance.now()
    let [status, headers, text, took] = ['', '', '', '']
    try {
      const response = await fetch(address, {
        headers: key ? { Authorization: `Bearer ${key}` } : {},
        cache: 'no-store',
        credentials: 'omit',
      })
      text = await textOf(response)
      took = `${Math.round(performance.now() - began)} ms`
      status = `${response.status}`
      headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    } catch {
      status = 'No answer'
      text = 'The server did not answer. Try again in a moment.'
    }
    button.disabled = false
    const card = showAnswer(form)
    let code
    try {
      const body = JSON.parse(text)
      code = body.error?.code
      text = JSON.stringify(body, null, 2)
    } catch {} // of a proxy in between
    part(card, '.status').textContent = status
    part(card, '.status').classList.toggle('bad', !status.startsWith('2'))
    part(card, '.took').textContent = took
    part(card, '.request').textContent = `GET ${address}`
    part(card, '[data-part=body]').replaceChildren(...coloured(text))
    part(card, '[data-part=headers]').textContent = headers
    const todo = code && document.getElementById(code)
    part(card, '.advice').hidden = !todo
    if (todo) {
      const link = Object.assign(document.createElement('a'), { href: `#${code}`, textContent: 'What to do about it' })
      part(card, '.advice').replaceChildren(link)
    }
  })
}

// Search: sections first, then everything that has a permalink.
const search = document.querySelector('#search')
const found = document.querySelector('#found')
/** A field has a name and a meaning; a country is all name. */
const nameOf = (row) =>
  all(row.querySelector('.meaning') ? '.name' : 'th, td', row)
    .map((cell) => cell.textContent)
    .join(' ')
const entries = all('section, tr[id]').map((element) => {
  const section = element.closest('section').querySelector('h2').firstChild.data.trim()
  const isSection = element.matches('section')
  return {
    id: element.id,
    name: isSection ? section : nameOf(element),
    where: isSection ? '' : section,
    text: isSection ? '' : element.textContent.toLowerCase(),
  }
})

/** Smaller is better; undefined for an entry that does not fit. */
function rank({ name, where, text }, words) {
  const lower = `${name} ${where}`.toLowerCase()
  if (!words.every((word) => lower.includes(word) || text.includes(word))) return undefined
  if (name.toLowerCase().startsWith(words[0])) return where ? 1 : 0
  return words.every((word) => lower.includes(word)) ? 2 : 3
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  found.hidden = words.length === 0
  if (found.hidden) return
  const hits = entries
    .map((entry) => ({ ...entry, rank: rank(entry, words) }))
    .filter((hit) => hit.rank !== undefined)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, 12)
  found.querySelector('[role=status]').textContent = `${hits.length} found`
  found.querySelector('ul').replaceChildren(
    ...hits.map(({ id, name, where }) => {
      const [item, link, title, context] = ['li', 'a', 'b', 'span'].map((tag) => document.createElement(tag))
      title.textContent = name
      context.textContent = where
      link.href = `#${id}`
      link.append(title, context)
      item.append(link)
      return item
    }),
  )
  if (hits.length === 0) {
    found
      .querySelector('ul')
      .append(Object.assign(document.createElement('li'), { className: 'none', textContent: 'Nothing found' }))
  }
}

function closeSearch() {
  found.hidden = true
}
search.addEventListener('input', find)
search.addEventListener('focus', find)
search.form.addEventListener('submit', (event) => {
  event.preventDefault()
  found.querySelector('a')?.click()
})
found.addEventListener('click', (event) => {
  if (!event.target.closest('a')) return
  closeSearch()
  search.blur()
})
addEventListener('click', (event) => {
  if (!search.form.contains(event.target)) closeSearch()
})
addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, select, textarea')
  if (event.key === '/' && !isTyping) {
    event.preventDefault()
    search.focus()
  }
  if (event.key === 'Escape') closeSearch()
  if (found.hidden || !['ArrowDown', 'ArrowUp'].includes(event.key)) return
  const stops = [search, ...all('a', found)]
  const at = stops.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
  stops.at(at % stops.length)?.focus()
  event.preventDefault()
})

// The contents mark the section that is being read, and close after a click on a phone.
const contents = document.querySelector('#contents')
contents.addEventListener('click', (event) => {
  if (event.target.matches('a') && contents.matches(':popover-open')) contents.hidePopover()
})
const links = new Map(all('a[href^="#"]', contents).map((link) => [link.hash.slice(1), link]))
const reading = new IntersectionObserver(
  (changes) => {
    const { target } = changes.findLast(({ isIntersecting }) => isIntersecting) ?? {}
    if (!target) return
    for (const [id, link] of links) {
      if (id === target.id) link.setAttribute('aria-current', 'location')
      else link.removeAttribute('aria-current')
    }
  },
  { rootMargin: '-80px 0px -75% 0px' },
)
for (const section of all('main > section')) reading.observe(section)
