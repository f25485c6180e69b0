// Comfort for the pages of sites and their settings. Every page works without it.

// The zone of the browser is a better first guess than UTC.
for (const field of document.querySelectorAll('input[data-browser-zone]')) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || field.value
}

// Asks whether the first event has arrived, until it has.
const pollMs = 3000
for (const place of document.querySelectorAll('[data-poll]')) {
  let shown
  const ask = async () => {
    if (place.querySelector('[data-done]')) {
      // Numbers may be five seconds old, so a page that loads at once could have none. Elsewhere the page says 0.
      if ('thenReload' in place.dataset) setTimeout(() => location.reload(), Number(place.dataset.thenReload || 6000))
      return
    }
    if (!document.hidden) {
      const response = await fetch(place.dataset.poll).catch(() => undefined)
      // Somebody who has signed out gets the sign-in page.
      if (response && (!response.ok || response.redirected)) return
      const text = await response?.text()
      // A button that somebody has reached with the keyboard stays.
      if (text && text !== shown) place.innerHTML = text
      shown = text
    }
    setTimeout(ask, place.querySelector('[data-done]') ? 0 : pollMs)
  }
  setTimeout(ask, pollMs)
}

// Shows the entries of a list that contain what is typed, in any case and without accents.
const plain = (text) =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
for (const field of document.querySelectorAll('input[data-filter]')) {
  const list = document.getElementById(field.dataset.filter)
  const entries = Array.from(list.querySelectorAll('li'), (entry) => [entry, plain(entry.textContent)])
  const filter = () => {
    const asked = plain(field.value.trim())
    let found = 0
    for (const [entry, text] of entries) {
      entry.hidden = !text.includes(asked)
      if (!entry.hidden) found++
    }
    list.querySelector('.no-match').hidden = found > 0
  }
  field.addEventListener('input', filter)
  // Enter must not save a list that nobody has looked at.
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault()
  })
}

// Shows what the numbers become, as countries are ticked.
const waitMs = 250
for (const form of document.querySelectorAll('form[data-preview]')) {
  let timer
  let running
  const preview = async () => {
    running?.abort()
    running = new AbortController()
    const { signal } = running
    const body = new URLSearchParams(new FormData(form))
    const response = await fetch(form.dataset.preview, { method: 'POST', body, signal }).catch(() => undefined)
    if (!response?.ok || response.redirected) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const part = page.getElementById('preview')
    if (part && !signal.aborted) document.getElementById('preview').replaceChildren(...part.childNodes)
  }
  form.addEventListener('change', (event) => {
    if (event.target.name !== 'country') return
    clearTimeout(timer)
    timer = setTimeout(preview, waitMs)
  })
}

// Sends files with a bar that moves, and says at once when they are too large.
for (const form of document.querySelectorAll('form[data-upload]')) {
  const [wrong, bar, button] = ['.fault', 'progress', 'button'].map((name) => form.querySelector(name))
  const fail = (text) => {
    wrong.textContent = text
    wrong.hidden = false
    bar.hidden = true
    button.disabled = false
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const files = Array.from(form.querySelector('input[type=file]').files)
    const max = Number(form.dataset.upload)
    if (files.reduce((sum, { size }) => sum + size, 0) > max - 1e5)
      return fail(`These files are larger than ${max / 1e6} MB. Pack them with gzip, or send fewer at once.`)
    const request = new XMLHttpRequest()
    request.open('POST', form.action)
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      bar.value = loaded / total
    })
    request.addEventListener('error', () => fail('The connection broke. Send the files again.'))
    request.addEventListener('load', () => {
      if (request.status < 400) return location.assign(request.responseURL)
      const page = new DOMParser().parseFromString(request.responseText, 'text/html')
      fail(
        (page.querySelector('main .fault') ?? page.querySelector('main'))?.textContent.trim() ?? 'That did not work.',
      )
    })
    wrong.hidden = true
    bar.hidden = false
    bar.value = 0
    button.disabled = true
    request.send(new FormData(form))
  })
}
