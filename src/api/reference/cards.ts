// The right column: dark cards with code, the form that tries a call, and an example of the answer.
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Endpoint, Parameter, Schema } from './description.ts'
import { highlight, type Language } from './highlight.ts'
import { samplesOf } from './samples.ts'

/** The call in every language. Choosing one needs no script; the script chooses the same language in all cards. */
export const samplesCard = (endpoint: Endpoint, id: string = endpoint.id): Html => {
  const samples = samplesOf(endpoint)
  return html`<div class="code-card samples">
<fieldset class="card-head"><legend class="unseen">Language of the example for ${endpoint.title}</legend>${samples.map(
    ({ name }, index) =>
      html`<label><input class="unseen" type="radio" name="language-${id}" value="${name}"${index === 0 && html` checked`}>${name}</label>`,
  )}<span class="spring"></span>${copyButton}</fieldset>
${samples.map(({ name, language, text }) => code(language, text, html` data-language="${name}"`))}
</div>`
}

export const codeCard = (title: string, language: Language, text: string): Html => html`<div class="code-card samples">
<div class="card-head"><b>${title}</b><span class="spring"></span>${copyButton}</div>
${code(language, text)}
</div>`

const copyButton = html`<button class="copy scripted" type="button">Copy</button>`

/** A card that scrolls must be reachable with the keyboard. */
const code = (language: Language, text: string, attributes: HtmlValue = null): Html =>
  html`<pre tabindex="0"${attributes}><code>${highlight(language, text)}</code></pre>`

export const tryCard = ({
  title,
  path,
  parameters,
  needsKey,
}: Endpoint): Html => html`<form class="code-card try scripted" data-path="${path}">
<div class="card-head"><b>Try it</b><span class="spring"></span>${needsKey ? 'the key is kept for this tab' : 'no key needed'}</div>
<div class="try-fields">
${needsKey && html`<label class="whole">API key<input class="key" type="password" autocomplete="off" spellcheck="false" placeholder="ff_s_…"></label>`}
${parameters.map(control)}
<button class="send" aria-label="Send: ${title}">Send</button>
</div>
</form>`

function control({ name, schema, example }: Parameter): Html {
  const { enum: words, default: standard } = schema as Schema
  if (!words) {
    const placeholder = standard ?? example ?? ''
    return html`<label class="${name}">${name}<input name="${name}" autocomplete="off" spellcheck="false" placeholder="${placeholder}"></label>`
  }
  // A call does not send default values.
  const options = words.map((word) =>
    word === standard
      ? html`<option value="" selected>${word}</option>`
      : html`<option value="${word}">${word}</option>`,
  )
  return html`<label class="${name}">${name}<select name="${name}">${standard === undefined && html`<option value="">any</option>`}${options}</select></label>`
}

/** The template of an answer, filled by the script: status and time, then body and headers in separate parts. */
export const answerTemplate = html`<template id="answer"><div class="code-card answer">
<fieldset class="card-head"><legend class="unseen">Part of the answer</legend><span class="status" role="status"></span>
<label><input class="unseen" type="radio" value="body" checked>Body</label><label><input class="unseen" type="radio" value="headers">Headers</label>
<span class="spring"></span><span class="took"></span></fieldset>
<p class="request"></p><p class="advice" hidden></p>
<pre tabindex="0" data-part="body"></pre><pre tabindex="0" data-part="headers"></pre>
</div></template>`

export function exampleCard({ example }: Endpoint): Html {
  const { summary, value } = example?.demo ?? {}
  const text = value === undefined ? 'No example yet: npm run docs writes it.' : JSON.stringify(value, null, 2)
  return html`<div class="code-card">
<div class="card-head"><span class="status ok">200</span><b>Example</b><span class="spring"></span>${summary}</div>
${code('json', text)}
</div>`
}
