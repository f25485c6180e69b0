// Makes pages more comfortable. Every page works without it.

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy)
    try {
      await navigator.clipboard.writeText(source.textContent)
    } catch {
      // Browsers allow it only over https and on this machine. A selection needs one key more.
      getSelection().selectAllChildren(source)
      return
    }
    const before = button.textContent
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = before
    }, 2000)
  })
}

// A form of choices acts as soon as one is made.
for (const form of document.querySelectorAll('form[data-at-once]')) {
  form.addEventListener('change', (event) => {
    if (event.target.matches('select')) form.requestSubmit()
  })
}

// The menu of sites: `k` opens it, typing searches, Enter goes to the first site.
const switcher = document.querySelector('.switcher')
if (switcher) {
  const form = switcher.querySelector('form')
  const field = switcher.querySelector('input')
  const found = switcher.querySelector('.switcher-found')
  let shown
  const search = async () => {
    const text = field.value
    const response = await fetch(`${form.dataset.sites}?q=${encodeURIComponent(text)}`).catch(() => undefined)
    // Somebody who has signed out gets the sign-in page.
    if (!response?.ok || response.redirected || text !== field.value) return
    found.innerHTML = await response.text()
    shown = text
  }
  const close = () => {
    if (switcher.contains(document.activeElement)) switcher.querySelector('summary').focus()
    switcher.open = false
  }
  switcher.addEventListener('toggle', () => {
    if (!switcher.open) return
    field.focus()
    void search()
  })
  field.addEventListener('input', search)
  form.addEventListener('submit', (event) => {
    const first = shown === field.value && found.querySelector('a')
    if (!first) return
    event.preventDefault()
    location.href = first.href
  })
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && switcher.open) return close()
    const isTyping = event.target.matches('input, select, textarea, [contenteditable]')
    const isOther = event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')
    if (event.key.toLowerCase() !== 'k' || isTyping || isOther) return
    event.preventDefault()
    switcher.open = true
    field.focus()
  })
  document.addEventListener('click', (event) => {
    if (!switcher.contains(event.target)) switcher.open = false
  })
}

// A form that makes something only once: a double click must not send it twice.
for (const form of document.querySelectorAll('form[data-once]')) {
  let isSent = false
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault()
    isSent = true
  })
  addEventListener('pageshow', () => {
    isSent = false
  })
}

// A secret that is shown once is gone when its page is left, also from the copy that a browser keeps for going back.
const forgetSecrets = () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.textContent = 'No longer shown'
  for (const button of document.querySelectorAll('[data-copy], [data-try]')) button.disabled = true
}
if (document.querySelector('[data-secret]')) {
  addEventListener('pagehide', forgetSecrets)
  addEventListener('pageshow', (event) => {
    if (event.persisted) forgetSecrets()
  })
}

for (const button of document.querySelectorAll('button[data-try]')) {
  button.addEventListener('click', async () => {
    const answer = document.getElementById('answer')
    answer.hidden = false
    answer.textContent = 'Asking …'
    try {
      const key = document.getElementById('whole-key').textContent
      const response = await fetch(button.dataset.try, {
        headers: { Authorization: `Bearer ${key}` },
        cache: 'no-store',
        credentials: 'omit',
      })
      const text = await response.text()
      const isJson = response.headers.get('Content-Type')?.startsWith('application/json')
      answer.textContent = `${response.status} ${response.ok ? 'OK' : 'refused'}\n${isJson ? JSON.stringify(JSON.parse(text), null, 2) : 'The answer is not from the API.'}`
    } catch {
      answer.textContent = 'No answer. Try again in a moment.'
    }
  })
}
