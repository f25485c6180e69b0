// Comfort for the dashboard: shortcuts, menus that close, and a page that stays where it was after a click. Everything works without it.
const isTyping = (target) =>
  target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]')
const help = document.getElementById('help')

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') closeMenus()
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || help?.open) return
  if (event.key === '?') return help?.showModal()
  const chosen = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`)
  if (!chosen) return
  event.preventDefault()
  if (chosen.localName === 'input') return chosen.focus()
  if (chosen.localName !== 'summary') return chosen.click()
  const menu = chosen.parentElement
  menu.open = true
  menu.querySelector('select, input:not([type=hidden])')?.focus()
})

for (const button of document.querySelectorAll('[data-help]')) {
  button.hidden = false
  button.addEventListener('click', () => help?.showModal())
}
for (const button of document.querySelectorAll('[data-copy-link]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(location.href)
    button.textContent = 'Copied'
  })
}

// A menu closes on Escape, on a click elsewhere, and when another one opens.
function closeMenus(except) {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (menu === except) continue
    if (menu.contains(document.activeElement)) menu.querySelector('summary').focus()
    menu.open = false
  }
}
document.addEventListener('click', (event) => closeMenus(event.target.closest('details.menu')))

// The countries of the map.
document.addEventListener('click', (event) => {
  const { href } = event.target.dataset ?? {}
  if (href) location.href = href
})

// A link that only changes what this page shows leaves the page where it is.
const key = 'footfall-scroll'
document.addEventListener('click', (event) => {
  if (event.target.closest('a[data-stay], [data-href]')) sessionStorage.setItem(key, `${location.pathname} ${scrollY}`)
})
const [path, top] = (sessionStorage.getItem(key) ?? '').split(' ')
sessionStorage.removeItem(key)
if (path === location.pathname) scrollTo({ top: Number(top), behavior: 'instant' })
