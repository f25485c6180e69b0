// Sends a form's parameters with the key above it and shows status, headers and body of the answer.
const key = document.querySelector('#key')
key.form.addEventListener('submit', (event) => event.preventDefault())

for (const form of document.querySelectorAll('form.try')) {
  const answer = form.nextElementSibling
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const parameters = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''))
    const query = parameters.size > 0 ? `?${parameters}` : ''
    answer.hidden = false
    answer.textContent = `GET ${form.dataset.path}${query} …`
    try {
      const headers = key.value ? { Authorization: `Bearer ${key.value.trim()}` } : {}
      const response = await fetch(form.dataset.path + query, { headers })
      const shown = [...response.headers].filter(([name]) =>
        /^(stats-|x-ratelimit|retry-after|etag|x-request-id)/.test(name),
      )
      const body = await response.json()
      answer.textContent = [
        `GET ${form.dataset.path}${query}`,
        `${response.status}`,
        ...shown.map(([name, value]) => `${name}: ${value}`),
        '',
        JSON.stringify(body, null, 2),
      ].join('\n')
    } catch (error) {
      answer.textContent = `The call failed: ${error.message}`
    }
  })
}
