import { hash } from 'node:crypto'
import { escapeHtml } from '../../features/mail/letter.ts'

/** Pages are plain HTML with one style sheet inside: no script, nothing loaded from anywhere. */

/** HTML that is safe as it stands. Values that are put into `html` are escaped unless they are Html themselves. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | Html[] | undefined | false

export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((text, part, at) => text + shown(values[at - 1]) + part))
}

function shown(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map((one) => one.text).join('')
  return escapeHtml(String(value))
}

const style = `
:root { color-scheme: light dark; --ink: #1c1917; --soft: #57534e; --paper: #fff; --ground: #f5f5f4; --line: #d6d3d1;
  --accent: #14532d; --on-accent: #fff; --warn: #991b1b; --warn-ground: #fef2f2 }
@media (prefers-color-scheme: dark) { :root { --ink: #f5f5f4; --soft: #d6d3d1; --paper: #1c1917; --ground: #0c0a09;
  --line: #57534e; --accent: #86efac; --on-accent: #052e16; --warn: #fecaca; --warn-ground: #450a0a } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 27rem; background: var(--paper); border: 1px solid var(--line); border-radius: 1rem;
  padding: 2rem; box-shadow: 0 10px 30px rgb(0 0 0 / .06) }
.brand { font-weight: 700; letter-spacing: .02em; color: var(--accent); margin: 0 0 1.25rem }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .75rem }
p { margin: 0 0 1rem } .soft { color: var(--soft); font-size: .9rem }
label, legend { display: block; font-weight: 600; margin-bottom: .3rem }
input[type=email], input[type=password], select { width: 100%; font: inherit; padding: .65rem .75rem; margin-bottom: 1rem;
  border: 1px solid var(--line); border-radius: .6rem; background: transparent; color: inherit }
fieldset { border: 0; padding: 0; margin: 0 0 1.25rem }
.choice { display: flex; gap: .6rem; align-items: baseline; padding: .6rem .75rem; border: 1px solid var(--line);
  border-radius: .6rem; margin-bottom: .5rem; font-weight: 400 }
.choice small { display: block; color: var(--soft) }
ul { margin: 0 0 1.25rem; padding-left: 1.2rem } li { margin-bottom: .25rem }
.buttons { display: flex; flex-direction: row-reverse; gap: .75rem }
button { flex: 1; font: inherit; font-weight: 600; padding: .7rem 1rem; border-radius: .6rem; cursor: pointer;
  border: 1px solid var(--line); background: transparent; color: inherit }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.link { flex: none; border: 0; padding: 0; font-weight: 400; text-decoration: underline; color: var(--accent) }
a { color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.alert { background: var(--warn-ground); color: var(--warn); border-radius: .6rem; padding: .7rem .9rem }
`

const styleHash = hash('sha256', style, 'base64')

/** `formsLeadTo`: where a form may end up besides here, as browsers check redirects after a form too. */
export const secureHeaders = (formsLeadTo = ''): Record<string, string> => ({
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${formsLeadTo}; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
})

export const page = (title: string, content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Plotbase</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<p class="brand">Plotbase</p>
${content}
</main>
</body>
</html>
`.text

export const alert = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`
